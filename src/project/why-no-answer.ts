/** Why a start URL gave no answer, as the store has it. */
import { withoutCredentials } from '../config/url-credentials.ts';
import { findPages } from './find-pages.ts';
import { openReading } from './reading.ts';

export async function whyNoAnswer(storeAddress: string, project: string, startUrl: string): Promise<string> {
  const reading = await openReading(storeAddress);
  try {
    const [page] = await findPages({ side: reading.side, project }, withoutCredentials(startUrl));
    return page?.error ?? page?.reason ?? 'no request was made';
  } finally {
    await reading.close();
  }
}
