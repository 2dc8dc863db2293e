-- What keeps a list from being complete: each row has its place, a sentence, and the command that fixes it.
select feed, kind, place, sentence, command
from {{ source('explorer', 'findings') }}
where is_open
