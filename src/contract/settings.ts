/** Settings of a project: seven names of their own, and every option that a project may keep in snake_case. */
import { z } from 'zod';
import { optionSchemaOf } from '../config/option-schema.ts';
import { OWN_SETTINGS, WIRE_SETTINGS, wireOption } from '../config/wire-settings.ts';

const OWN_SCHEMAS: Record<string, object> = {
  max_pages: {
    type: 'integer',
    minimum: 1,
    description: 'The most pages of a run; GET /info tells the limit.',
  },
  include_patterns: {
    type: 'string',
    description: 'Regular expressions, separated by commas; empty: every URL.',
  },
  exclude_patterns: { type: 'string', description: 'Regular expressions, separated by commas; they win.' },
  max_concurrent: { type: 'integer', minimum: 1, maximum: 1000, description: 'Requests at once to a host.' },
  delay_seconds: {
    type: 'number',
    minimum: 0,
    maximum: 86_400,
    description: 'Seconds between two requests to a host.',
  },
  respect_robots_txt: { type: 'boolean', description: 'false only where the operator has allowed it.' },
  fetch_only_urls: { type: 'null', description: 'Always null: give the URLs with a run.' },
};

/** `x-` and defaults of the table are left out: the defaults of the service are those of GET /options. */
function propertiesOf(isPatch: boolean): Record<string, object> {
  return Object.fromEntries(
    WIRE_SETTINGS.map((name) => {
      const own = OWN_SCHEMAS[name] ?? optionSchemaOf(wireOption(name));
      const byDefault = Object.hasOwn(OWN_SETTINGS, name)
        ? { default: OWN_SETTINGS[name as keyof typeof OWN_SETTINGS].byDefault }
        : {};
      const shown = { ...own, ...byDefault };
      return [name, isPatch ? { anyOf: [shown, { type: 'null' }] } : shown];
    }),
  );
}

/** Values are checked by the option table (readWireSettings), which names every problem. */
export const settingsPatch = z.record(z.string(), z.unknown()).meta({
  id: 'SettingsChange',
  description: 'Settings by name; null takes one back to its default.',
  properties: propertiesOf(true),
  additionalProperties: false,
});

export const settings = z.record(z.string(), z.unknown()).meta({
  id: 'Settings',
  description: 'The seven settings with the values that hold, and what the project keeps of other options.',
  properties: propertiesOf(false),
});
