/** Variables as Grafana fills them in: a dashboard's own, and those of the cell that a link stands in. */
import { type DataFrame, type Field, type InterpolateFunction, type ScopedVars, formattedValueToString } from '@grafana/data';
import { type Range } from './panels';

const VARIABLE = /\$\{(\w+(?:\.[^}:]+)?)(?::(\w+))?\}|\$(\w+)/g;

interface Cell {
  readonly frame: DataFrame;
  readonly field: Field;
  readonly rowIndex?: number;
}

export function replacer(variables: Readonly<Record<string, string>>, range: Range): InterpolateFunction {
  return (text: string, scoped?: ScopedVars) =>
    text.replace(VARIABLE, (whole, braced: string | undefined, format: string | undefined, plain: string | undefined) => {
      const name = braced ?? plain!;
      const cell: Cell | undefined = scoped?.['__dataContext']?.value;
      const value = inCell(name, cell) ?? inTime(name, variables, range) ?? variables[name];
      if (value === undefined) return whole;
      return format === 'percentencode' ? encodeURIComponent(value) : value;
    });
}

/** `__value.text`, `__value.raw` and `__data.fields["a name"]` of a cell. */
function inCell(name: string, cell: Cell | undefined): string | undefined {
  const row = cell?.rowIndex;
  if (!cell || row === undefined) return undefined;
  const text = (field: Field) => {
    const value = field.values[row];
    return field.display ? formattedValueToString(field.display(value)) : String(value);
  };
  if (name === '__value.text') return text(cell.field);
  if (name === '__value.raw') return String(cell.field.values[row]);
  const other = /^__data\.fields\["?([^"\]]+)"?\]$/.exec(name);
  const field = other && cell.frame.fields.find((one) => one.state?.displayName === other[1] || one.name === other[1]);
  return field ? text(field) : undefined;
}

function inTime(name: string, variables: Readonly<Record<string, string>>, range: Range): string | undefined {
  if (name === '__url_time_range') return `from=${range.from}&to=${range.to}`;
  if (name === '__all_variables') return Object.entries(variables).map(([key, value]) => `var-${key}=${encodeURIComponent(value)}`).join('&');
  return undefined;
}
