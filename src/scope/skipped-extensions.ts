/**
 * Extensions whose URLs are not fetched unless they are start URLs: images, sound, film, archives, programs, fonts,
 * style sheets, scripts, and documents that are no web pages. What may be a page, a feed or a sitemap (html, php, xml,
 * json, txt, rss…) is not in the list: its Content-Type decides. The option replaces the whole list.
 */
export const SKIPPED_EXTENSIONS: readonly string[] = [
  ...['avif', 'bmp', 'gif', 'heic', 'ico', 'jpeg', 'jpg', 'png', 'psd', 'svg', 'tif', 'tiff', 'webp'],
  ...[
    'aac',
    'avi',
    'flac',
    'flv',
    'm4a',
    'm4v',
    'mid',
    'mkv',
    'mov',
    'mp3',
    'mp4',
    'mpeg',
    'mpg',
    'oga',
    'ogg',
    'ogv',
  ],
  ...['wav', 'webm', 'wma', 'wmv'],
  ...['7z', 'bz2', 'gz', 'jar', 'rar', 'tar', 'tgz', 'war', 'xz', 'zip', 'zst'],
  ...['apk', 'bin', 'deb', 'dmg', 'exe', 'iso', 'msi', 'pkg', 'rpm', 'wasm', 'whl'],
  ...['eot', 'otf', 'ttf', 'woff', 'woff2'],
  ...['css', 'js', 'map', 'mjs'],
  ...['doc', 'docx', 'epub', 'mobi', 'odp', 'ods', 'odt', 'pdf', 'ppt', 'pptx', 'ps', 'rtf', 'xls', 'xlsx'],
];
