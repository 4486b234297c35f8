/** The one place that asks whether a store is shared: everything else asks the crew. */
import type { RunStore } from '../../store/store-port.ts';
import type { Crew } from './crew.ts';
import { createCrewAlone } from './crew-alone.ts';
import { type CrewOfManyParts, createCrewOfMany } from './crew-of-many.ts';

export function chooseCrew(parts: CrewOfManyParts & { store: RunStore }): Crew {
  return parts.store.isShared ? createCrewOfMany(parts) : createCrewAlone(parts);
}
