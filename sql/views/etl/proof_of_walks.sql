create or replace function etl.proof_of_walks(of_feed text, of_lane text) returns int8multirange
language sql stable
return coalesce(
  (
    select range_agg(proved) from etl.walks
    where feed = of_feed and lane = of_lane and state <> 'running'
  ),
  '{}'
);

comment on function etl.proof_of_walks is 'What the ended walks of a lane verify together, from each of them: what etl.lane_totals.proved must be.';
