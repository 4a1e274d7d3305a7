// Creates image files of charts in the browser.
import { download } from '../ui/download';
import { themeColor } from './colors';

// Downloads a PNG image of the chart with its background color and a title above it.
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
