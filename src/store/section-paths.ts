/** Paths of folders as they are kept: '' is the folder of all pages, /docs one in it. */
export const folderPath = (section: string): string => {
  const path = section.replace(/^\/+|\/+$/g, '');
  return path === '' ? '' : `/${path}`;
};

/** NULL has no row to stand for it: the folder of all pages lies in none. */
export const parentOf = (path: string): string => (path === '' ? '-' : path.slice(0, path.lastIndexOf('/')));

export const segmentsOf = (path: string): number => path.split('/').length - 1;
