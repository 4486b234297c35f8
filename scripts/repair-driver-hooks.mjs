// For threads that run from the sources: Node's own loader, which the tests do not see, repairs the driver as well.
import { fileURLToPath } from 'node:url';
import { repairDriverTransform } from './repair-driver.mjs';

export async function load(url, context, next) {
  const found = await next(url, context);
  if (!url.startsWith('file:') || found.source == null) return found;
  const source = repairDriverTransform.transform(String(found.source), fileURLToPath(url));
  return source === null ? found : { ...found, source };
}
