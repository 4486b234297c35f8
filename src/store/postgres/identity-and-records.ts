/** The version of the schema that the service came with; see schema.ts. */
import { recordTable } from '../record-statements.ts';

/**
 * What a service keeps (record-port.ts). Projects have ids that programs know them by, and can be marked as deleted. One with
 * purged_at is seen by nobody any more, and is on its way to be deleted for good. A worker of the version before names no uid.
 */
export const IDENTITY_AND_RECORDS = `${recordTable('bigint', 'text COLLATE "C"')}
ALTER TABLE project ADD COLUMN uid text NOT NULL UNIQUE DEFAULT gen_random_uuid()::text, ADD COLUMN website_url text,
  ADD COLUMN updated_at bigint NOT NULL DEFAULT 0, ADD COLUMN deleted_at bigint, ADD COLUMN purged_at bigint;
UPDATE project SET updated_at = created_at;
CREATE INDEX project_name ON project (name COLLATE "C", id);
CREATE INDEX project_created ON project (created_at, id);
CREATE INDEX project_updated ON project (updated_at, id);`;
