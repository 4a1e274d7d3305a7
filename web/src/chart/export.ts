// Files made in the browser.
import { themeColor } from './colors';

export function download(name: string, blob: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser has taken the address by the next turn.
  setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
}

// The chart on its background, with a title above it.
export function downloadPng(canvas: HTMLCanvasElement, title: string, name: string): void {
  const ratio = devicePixelRatio;
  const top = Math.round(30 * ratio);
  const picture = document.createElement('canvas');
  picture.width = canvas.width;
  picture.height = canvas.height + top;
  const ctx = picture.getContext('2d');
  if (!ctx) return;
  ctx.fillStyle = themeColor('surface');
  ctx.fillRect(0, 0, picture.width, picture.height);
  ctx.fillStyle = themeColor('text');
  ctx.font = `600 ${13 * ratio}px system-ui, sans-serif`;
  ctx.fillText(title, 14 * ratio, 20 * ratio);
  ctx.drawImage(canvas, 0, top);
  picture.toBlob((blob) => blob && download(name, blob), 'image/png');
}
