// A menu of checkboxes, for example to choose series or columns. The menu stays open while the user
// changes several boxes; Escape closes it.
interface CheckMenuProps<T extends string> {
  title: string;
  // Values and their words.
  options: readonly (readonly [T, string])[];
  chosen: readonly T[];
  onToggle: (option: T) => void;
  // Shows the number of chosen options.
  counted?: boolean;
  // The list extends to the left of the button.
  atEnd?: boolean;
}

// More entries would be hard to search.
const OPTIONS_MAX = 200;

export const asOptions = (names: readonly string[]) => names.map((name) => [name, name] as const);

export function CheckMenu<T extends string>(props: CheckMenuProps<T>) {
  const { title, options, chosen, onToggle, counted = true, atEnd = false } = props;
  return (
    <details
      class={atEnd ? 'menu menu-end' : 'menu'}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector('summary')?.focus();
      }}
    >
      <summary>
        {title}
        {counted && chosen.length > 0 && <span class="count">{chosen.length}</span>}
      </summary>
      <fieldset class="menu-list">
        <legend class="hidden">{title}</legend>
        {options.slice(0, OPTIONS_MAX).map(([option, word]) => (
          <label key={option}>
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={() => onToggle(option)}
            />{' '}
            {word}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
