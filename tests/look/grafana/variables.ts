/** Variables as Grafana fills them in: a dashboard's own, and the text of the cell that a link stands in. */
import { type Field, type InterpolateFunction, type ScopedVars, formattedValueToString } from '@grafana/data';

const VARIABLE = /\$\{(\w+(?:\.\w+)?)\}|\$(\w+)/g;

interface Cell {
  readonly field: Field;
  readonly rowIndex?: number;
}

export function replacer(variables: Readonly<Record<string, string>>): InterpolateFunction {
  return (text: string, scoped?: ScopedVars) =>
    text.replace(VARIABLE, (whole, braced: string | undefined, plain: string | undefined) => {
      const name = braced ?? plain!;
      return (name === '__value.text' ? cellText(scoped?.['__dataContext']?.value) : variables[name]) ?? whole;
    });
}

function cellText(cell: Cell | undefined): string | undefined {
  if (cell?.rowIndex === undefined) return undefined;
  const { field, rowIndex } = cell;
  return field.display ? formattedValueToString(field.display(field.values[rowIndex])) : String(field.values[rowIndex]);
}
