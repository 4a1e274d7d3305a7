import { Dialog } from './dialog';
import { KEY_HELP } from './keyboard';

export function KeyHelp({ onClose }: { onClose: () => void }) {
  const places = [...new Set(KEY_HELP.map(({ where }) => where))];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      {places.map((where) => (
        <section key={where} class="key-help">
          <h3>{where}</h3>
          <dl>
            {KEY_HELP.filter((entry) => entry.where === where).map((entry) => (
              <div key={entry.does}>
                <dt>
                  {entry.keys.map((key) => (
                    <kbd key={key}>{key}</kbd>
                  ))}
                </dt>
                <dd>{entry.does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p class="faint">
        In a chart: drag to zoom, double-click to show the whole run, click to choose the step of a
        note.
      </p>
    </Dialog>
  );
}
