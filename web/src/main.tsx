// The page of `doctord serve`: it shows what /api/v1 answers, and computes nothing that the command line could not.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render, type ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { address, view } from "./address";
import { lake, lakes, trouble, watch } from "./data/time";
import { Footer } from "./parts/Footer";
import { Header } from "./parts/Header";
import { Blocking } from "./views/Blocking";
import { Capacity } from "./views/Capacity";
import { Compare } from "./views/Compare";
import { Explore } from "./views/Explore";
import { FindingView } from "./views/FindingView";
import { MapView } from "./views/MapView";
import { Now } from "./views/Now";
import { StatementView } from "./views/StatementView";

const VIEWS: Record<string, [name: string, view: ComponentType]> = {
  now: ["Now", Now],
  explore: ["Explore", Explore],
  finding: ["Finding", FindingView],
  map: ["Latency", MapView],
  blocking: ["Blocking", Blocking],
  compare: ["Compare", Compare],
  capacity: ["Capacity", Capacity],
  statement: ["Statement", StatementView],
};

const entered = view.value;

function Page() {
  const [name, View] = VIEWS[view.value] ?? VIEWS.now!;
  const main = useRef<HTMLElement>(null);
  const host = address.value.host ?? lake.value?.hosts[0];
  useEffect(() => {
    document.title = [name, host, "Doctor D"].filter(Boolean).join(" – ");
  }, [name, host]);
  // Who uses keys or a screen reader goes on in the view that is new.
  useEffect(() => {
    if (view.value !== entered) main.current?.focus({ preventScroll: true });
  }, [view.value]);
  if (trouble.value)
    return (
      <p class="warning" role="alert">
        ▲ {trouble.value}
      </p>
    );
  if (lakes.value === null) return <p class="quiet">Asking the server…</p>;
  if (!lakes.value.some(held => held.until))
    return <p>Nothing is recorded yet. To record: doctord record, or doctord serve --record.</p>;
  return (
    <>
      <Header />
      <main ref={main} tabIndex={-1}>
        <View />
      </main>
      <Footer />
    </>
  );
}

render(<Page />, document.getElementById("page")!);
void watch();
