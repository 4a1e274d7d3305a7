// A menu of checkboxes, for example to choose series.
interface CheckMenuProps {
  title: string;
  options: readonly string[];
  chosen: readonly string[];
  onToggle: (option: string) => void;
}

// More entries would be hard to search.
const OPTIONS_MAX = 200;

export function CheckMenu({ title, options, chosen, onToggle }: CheckMenuProps) {
  return (
    <details class="menu">
      <summary>
        {title}
        {chosen.length > 0 && <span class="count">{chosen.length}</span>}
      </summary>
      <div class="menu-list">
        {options.slice(0, OPTIONS_MAX).map((option) => (
          <label key={option}>
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={() => onToggle(option)}
            />
            {option}
          </label>
        ))}
      </div>
    </details>
  );
}
