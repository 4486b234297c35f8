/** The tables of kept counts by value and by folder, alike in both stores: written by `sumi index sections` only. */
import { FOLDER_COLUMNS } from './facet-names.ts';

interface Words {
  text: string;
  whole: string;
  /** Sums: of words, of milliseconds. */
  large: string;
  ending: string;
}

export const countTables = ({ text, whole, large, ending }: Words) => `
CREATE TABLE facet_count (
  project_id ${whole} NOT NULL,
  facet ${text} NOT NULL,
  value ${text} NOT NULL,
  pages ${whole} NOT NULL,
  PRIMARY KEY (project_id, facet, value)
)${ending};
CREATE TABLE section_count (
  project_id ${whole} NOT NULL,
  parent ${text} NOT NULL,
  path ${text} NOT NULL,
  ${FOLDER_COLUMNS.map((column) => `${column} ${large} NOT NULL`).join(', ')},
  PRIMARY KEY (project_id, parent, path)
)${ending};`;
