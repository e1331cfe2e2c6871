import { useEffect, useRef } from 'react';
import './usable-language';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { count } from '../format';

interface Point {
  at: string;
  calls: number;
  failed: number;
}

const height = 180;
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayMs = 86_400_000;

/** Calls and failures over time. The table beside it says the same to those who cannot see it. */
export function Chart({ points }: { points: readonly Point[] }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const host = place.current;
    if (!host || points.length === 0) return;
    const style = getComputedStyle(host);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const times = points.map(({ at }) => Date.parse(at) / 1000);
    const spanMs = ((times.at(-1) ?? 0) - (times[0] ?? 0)) * 1000;
    const bars = UPlot.paths.bars?.({ size: [0.8, 24] });
    const axis = {
      stroke: color('--quiet'),
      grid: { stroke: color('--line'), width: 1 },
      ticks: { show: false },
      font: `12px ${style.fontFamily}`,
    };
    const label = (seconds: number) =>
      (spanMs > 2 * dayMs ? day : clock).format(new Date(seconds * 1000));
    const series = (label: string, name: string): UPlot.Series => ({
      label,
      fill: color(name),
      stroke: color(name),
      width: 0,
      points: { show: false },
      ...(bars ? { paths: bars } : {}),
    });
    const plot = new UPlot(
      {
        width: host.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: true }, y: { range: (_, _min, max) => [0, Math.max(max, 4) * 1.1] } },
        // Labels of our own: those of uPlot take the locale of the browser, which may be no locale.
        axes: [
          { ...axis, size: 32, values: (_, at) => at.map(label) },
          {
            ...axis,
            size: 56,
            values: (_, at) => at.map((n) => (Number.isInteger(n) ? count(n) : '')),
          },
        ],
        series: [{}, series('Calls', '--chart-calls'), series('Failed', '--chart-failed')],
      },
      [times, points.map(({ calls }) => calls), points.map(({ failed }) => failed)],
      host,
    );
    const fit = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height }));
    fit.observe(host);
    return () => {
      fit.disconnect();
      plot.destroy();
    };
  }, [points]);
  return <div ref={place} className="chart" aria-hidden="true" />;
}
