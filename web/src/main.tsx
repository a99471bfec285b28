// The page of `doctord serve`: it shows what /api/v1 answers, and computes nothing that the command line could not.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render, type ComponentType } from "preact";
import { view } from "./address";
import { lakes, trouble, watch } from "./data/time";
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

const VIEWS: Record<string, ComponentType> = {
  now: Now,
  explore: Explore,
  finding: FindingView,
  map: MapView,
  blocking: Blocking,
  compare: Compare,
  capacity: Capacity,
  statement: StatementView,
};

function Page() {
  if (trouble.value)
    return (
      <p class="warning" role="alert">
        ▲ {trouble.value}
      </p>
    );
  if (lakes.value === null) return <p class="quiet">Asking the server…</p>;
  if (!lakes.value.some(held => held.until))
    return <p>Nothing is recorded yet. To record: doctord record, or doctord serve --record.</p>;
  const View = VIEWS[view.value] ?? Now;
  return (
    <>
      <Header />
      <View />
      <Footer />
    </>
  );
}

render(<Page />, document.getElementById("page")!);
void watch();
