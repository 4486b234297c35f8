/**
 * Whether a search engine may show a page: it answered 200, with content of its own, and does not ask to be left out.
 * A redirect by meta refresh is a 200 too. Canonical URLs do not count here. SQL that both stores take.
 */
export const INDEXABLE = `CASE WHEN f.status_code = 200 AND f.content_hash IS NOT NULL AND f.content_length > 0
      AND f.redirect_to IS NULL AND f.noindex = 0 THEN 'Yes' ELSE 'No' END`;
