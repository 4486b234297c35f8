/**
 * Reads values out of the columns of a chunk. What the driver makes of a STRUCT is an object by names, and a row(1,
 * 2) has no names: all of its values but the last would be lost. Columns that have such a type are read here by
 * position.
 */
import {
  DuckDBListValue,
  DuckDBListVector,
  DuckDBStructValue,
  DuckDBStructVector,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  type DuckDBVector,
} from '@duckdb/node-api';

export type ReadItem = (vector: DuckDBVector, index: number) => DuckDBValue;

/** How the values of a column of this type are read. */
export function itemReader(type: DuckDBType): ReadItem {
  return hasInside(type, isTuple) ? readByPosition : readByName;
}

const readByName: ReadItem = (vector, index) => vector.getItem(index) as DuckDBValue;

const readByPosition: ReadItem = (vector, index) => {
  if (vector instanceof DuckDBStructVector) {
    if (!vector.isItemValid(index)) return null;
    const isUnnamed = isTuple(vector.type);
    const entries: Record<string, DuckDBValue> = {};
    for (let place = 0; place < vector.type.entryCount; place++) {
      const name = isUnnamed ? String(place) : vector.type.entryNames[place];
      entries[name] = readByPosition(vector.entryVectorAt(place), index);
    }
    return new DuckDBStructValue(entries);
  }
  if (vector instanceof DuckDBListVector) {
    const items = vector.getItemVector(index);
    if (items === null) return null;
    return new DuckDBListValue(
      Array.from({ length: items.itemCount }, (_, place) => readByPosition(items, place)),
    );
  }
  return readByName(vector, index);
};

/** A STRUCT without names. */
export function isTuple(type: DuckDBType): boolean {
  return type.typeId === DuckDBTypeId.STRUCT && type.entryCount > 0 && type.entryNames[0] === '';
}

/** The names under which the values of a STRUCT were read. */
export function entryKeys(type: DuckDBType & { typeId: DuckDBTypeId.STRUCT }): readonly string[] {
  return isTuple(type) ? type.entryNames.map((_, place) => String(place)) : type.entryNames;
}

/** Whether the type, or one that it is made of, is such. */
export function hasInside(type: DuckDBType, isSuch: (type: DuckDBType) => boolean): boolean {
  return isSuch(type) || partsOf(type).some((part) => hasInside(part, isSuch));
}

function partsOf(type: DuckDBType): readonly DuckDBType[] {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY:
      return [type.valueType];
    case DuckDBTypeId.STRUCT:
      return type.entryTypes;
    case DuckDBTypeId.MAP:
      return [type.keyType, type.valueType];
    case DuckDBTypeId.UNION:
      return type.memberTypes;
    default:
      return [];
  }
}
