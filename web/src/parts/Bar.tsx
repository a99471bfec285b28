/** A share as a bar; its figure stands beside it, so that it is hidden from readers of the screen. */
export function Bar({ share, colour }: { share: number; colour?: number }) {
  return (
    <span class="bar" aria-hidden="true">
      <span
        class={colour === undefined ? "" : `fill c${colour}`}
        style={{ width: `${Math.min(Math.max(share, 0), 1) * 100}%` }}
      />
    </span>
  );
}
