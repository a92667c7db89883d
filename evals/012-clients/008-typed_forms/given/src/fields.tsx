import type { CheckField, ChoiceField, TextField } from "./forms";

export function Text({ label, field }: { label: string; field: TextField }) {
  return (
    <p>
      <label>
        {label} <input value={field.value} onChange={(event) => field.set(event.target.value)} />
      </label>
      <Problem of={label} text={field.error} />
    </p>
  );
}

export function Choice<V extends string | number>({ label, field }: { label: string; field: ChoiceField<V> }) {
  return (
    <p>
      <label>
        {label}{" "}
        <select
          value={field.value === null ? "" : String(field.value)}
          onChange={(event) => field.set(field.options.find((each) => String(each) === event.target.value) ?? null)}
        >
          <option value="">–</option>
          {field.options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      </label>
      <Problem of={label} text={field.error} />
    </p>
  );
}

export function Check({ label, field }: { label: string; field: CheckField }) {
  return (
    <p>
      <label>
        <input type="checkbox" checked={field.value} onChange={(event) => field.set(event.target.checked)} /> {label}
      </label>
      <Problem of={label} text={field.error} />
    </p>
  );
}

export function Problem({ of, text }: { of: string; text: string | null }) {
  return text === null ? null : <span role="alert">{`${of}: ${text}`}</span>;
}
