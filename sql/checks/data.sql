select problem from etl.data_problems() as problem;
