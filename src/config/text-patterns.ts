/** Regular expressions of texts that options take, as JSON Schema writes them: one string each, in unicode mode. */

export const CRAWLER_NAME = '^[A-Za-z0-9-]+$';

/** RFC 9110 section 5.6.2 token: what may follow the slash of a product. */
export const VERSION_TOKEN = "^[\\w.!#$%&'*+^`|~-]+$";

export const EMAIL = '^[^\\s@<>();,"]+@[^\\s@.<>();,"]+(\\.[^\\s@.<>();,"]+)+$';

/** Visible ASCII and spaces inside: safe as a header value, no way to smuggle in a second header. */
export const HEADER_TEXT = '^[!-~]([ -~]*[!-~])?$';

export const MEDIA_RANGE = '^(\\*/\\*|[\\w.+-]+/(\\*|[\\w.+-]+|\\*\\+[\\w.-]+))$';

export const EXTENSION = '^\\.?[A-Za-z0-9]+(\\.[A-Za-z0-9]+)*$';

export const PATH_PREFIX = '^/[^\\s?#]*$';

/** Not only white space. */
export const FILLED = '\\S';

export const SECONDS_PATTERN = '^\\s*(\\d+(?:\\.\\d+)?|\\.\\d+) ?(ms|s|m|h|d)?\\s*$';

export const BYTES_PATTERN = '^\\s*(\\d+(?:\\.\\d+)?) ?([kmgKMG]?)(?:[iI]?[bB])?\\s*$';
