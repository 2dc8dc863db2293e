-- A cursor is the position alone: one that differs from another in its page size only is the same.
update etl.pages
set cursor_in = cursor_in - 'page_size', cursor_out = cursor_out - 'page_size'
where cursor_in ? 'page_size' or cursor_out ? 'page_size';
--> statement-breakpoint
update etl.walks
set cursor = cursor - 'page_size', scope = scope #- '{until,page_size}'
where cursor ? 'page_size' or scope #> '{until}' ? 'page_size';
