create or replace function etl.address_kind(proxy_type text, is_contract boolean) returns text
language sql immutable parallel safe
return case when proxy_type is not null then proxy_type when is_contract then 'contract' when not is_contract then 'account' end;

comment on function etl.address_kind is 'What an address is: its kind of proxy, such as eip7702, else contract, else account. Null: not reported.';
