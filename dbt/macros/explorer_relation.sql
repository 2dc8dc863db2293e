{# Rows that name another one which is not there. #}
{% test explorer_relation(model, columns, to, to_columns) %}
with one as (select * from {{ model }})
select {{ columns | join(', ') }}
from one
where {% for column in columns %}one.{{ column }} is not null and {% endfor %}not exists (
  select from {{ to }} as other
  where {% for column in columns %}other.{{ to_columns[loop.index0] }} = one.{{ column }}{% if not loop.last %} and {% endif %}{% endfor %}
)
{% endtest %}
