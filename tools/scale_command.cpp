// `trnsci scale OPERATION`: seconds, efficiency, bytes and what binds, for one machine, and curves to 64 instances.
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "report/format.hpp"
#include "scale_model.hpp"

namespace trn::tools::scale {

namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string machine = "trn2", json, html;
  int chips = 0, nodes = 1, lnc = 1;
  double eta = 1.0 / 3;
  bool curves = false;
};

constexpr int kInstanceChips = 16;

tile::Placement placement_of(const tile::Fabric& f, int chips, int nodes, int lnc) {
  return {.ranks = f.cores_per_chip / lnc, .chips = chips, .nodes = nodes, .lnc = lnc};
}

// An operation with both etas, and its efficiency against one chip.
class Model {
 public:
  Model(Operation& operation, const tile::Fabric& f, int lnc, double eta)
      : operation_(operation), fabric_(f), lnc_(lnc), eta_(eta) {}

  CurvePoint strong(int chips, int nodes) { return point(operation_, chips, nodes, 1); }
  CurvePoint weak(int chips, int nodes) {
    const double times = static_cast<double>(chips) * nodes;
    const std::unique_ptr<Operation> larger = operation_.weak(times);
    return point(*larger, chips, nodes, larger->work() / operation_.work());
  }

 private:
  Result at(Operation& operation, int chips, int nodes, double eta) {
    const tile::Placement p = placement_of(fabric_, chips, nodes, lnc_);
    return operation.model({fabric_, tile::machine(fabric_.machine), p, eta});
  }
  CurvePoint point(Operation& operation, int chips, int nodes, double work) {
    CurvePoint c{chips, nodes, at(operation, chips, nodes, eta_), at(operation, chips, nodes, 1)};
    const double times = static_cast<double>(chips) * nodes;
    c.efficiency = work * at(operation_, 1, 1, eta_).seconds / (times * c.eta.seconds);
    c.efficiency_one = work * at(operation_, 1, 1, 1).seconds / (times * c.one.seconds);
    return c;
  }
  Operation& operation_;
  const tile::Fabric& fabric_;
  int lnc_;
  double eta_;
};

// One chip, two, four, ... up to a node, then nodes up to 64 instances.
std::vector<std::pair<int, int>> sizes(const tile::Fabric& f) {
  std::vector<std::pair<int, int>> all;
  const int node = f.chips_per_node();
  for (int chips = 1; chips < node; chips *= 2) all.emplace_back(chips, 1);
  for (int nodes = 1; nodes * node <= 64 * kInstanceChips; nodes *= 2) all.emplace_back(node, nodes);
  return all;
}

Json to_json(const CurvePoint& c) {
  return {{"chips", c.chips},
          {"nodes", c.nodes},
          {"seconds", c.eta.seconds},
          {"efficiency", c.efficiency},
          {"bytes", c.eta.bytes},
          {"binding", c.eta.binding},
          {"compute_seconds", c.eta.compute_s},
          {"communication_seconds", c.eta.communication_s},
          {"eta_1", {{"seconds", c.one.seconds}, {"efficiency", c.efficiency_one}, {"binding", c.one.binding}}}};
}

void print_curve(const Curve& curve, double eta) {
  fmt::print("\n");
  say_text(curve.title);
  Table table(
      {"chips", "nodes", fmt::format("eta {:.2f}", eta), "efficiency", "binding", "eta 1", "efficiency", "binding"});
  for (const CurvePoint& c : curve.points) {
    table.add({fmt::format("{}", c.chips * c.nodes), fmt::format("{}", c.nodes), duration(c.eta.seconds),
               percent(c.efficiency), c.eta.binding, duration(c.one.seconds), percent(c.efficiency_one),
               c.one.binding});
  }
  table.print();
}

void run(Operation& operation, const Arguments& a) {
  const tile::Fabric& f = tile::fabric(a.machine);
  const int chips = a.chips > 0 ? a.chips : f.chips_per_node();
  require(a.lnc == 1 || f.machine != "trn1", "scale: --lnc {}: a rank of trn1 is one core", a.lnc);
  require(chips <= f.chips_per_node(), "scale: --chips {}: a node of {} has {}; use --nodes for more", chips, a.machine,
          f.chips_per_node());
  operation.check();
  require_different_files({{"--html", a.html}, {"--json", a.json}});
  require(a.html != "-", "--html: the page goes to a file; '-' is for --json alone");
  const Stage stage("scale " + operation.name());
  JsonFile json(a.json);
  if (!a.html.empty()) const OutputFile claim("--html", a.html);  // a bad path costs nothing
  Model model(operation, f, a.lnc, a.eta);
  const CurvePoint c = model.strong(chips, a.nodes);
  const tile::Placement at = placement_of(f, chips, a.nodes, a.lnc);
  std::vector<Curve> curves;
  if (a.curves || !a.html.empty()) {
    curves.push_back({fmt::format("the same size on more chips: {}", operation.shape()), {}});
    curves.push_back({"as much more data as chips (weak)", {}});
    bool fits = true;  // sizes that the operation takes; the second curve ends before one that it does not
    for (const auto& [some, nodes] : sizes(f)) {
      curves[0].points.push_back(model.strong(some, nodes));
      try {
        if (fits) curves[1].points.push_back(model.weak(some, nodes));
      } catch (const InvalidArgument&) {
        fits = false;
      }
    }
  }
  Json out = to_json(c);
  out["operation"] = operation.name();
  out["shape"] = operation.shape();
  out["machine"] = f.name;
  out["ranks"] = at.size();
  out["lnc"] = a.lnc;
  out["eta"] = a.eta;
  out["memory_bytes"] = c.eta.memory;
  if (!curves.empty()) {
    for (std::size_t i = 0; i < 2; ++i) {
      Json& list = out[i == 0 ? "strong" : "weak"] = Json::array();
      for (const CurvePoint& p : curves[i].points) list.push_back(to_json(p));
    }
  }
  json.write(out);
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} on {} chips of {} in {} node{}: {} ranks, modelled", operation.shape(),
                              at.all_chips(), f.name, a.nodes, a.nodes > 1 ? "s" : "", at.size()));
  lines.push_back(fmt::format("{}; {} a rank, {} into a rank", c.eta.note, bytes(c.eta.memory),
                              neuron::report::bytes_text(c.eta.bytes)));
  const auto stack = static_cast<double>(tile::machine(f.machine).hbm_bytes_per_stack());
  const double sharing = static_cast<double>(tile::machine(f.machine).cores_per_stack()) / a.lnc;
  if (c.eta.memory * sharing > stack)
    lines.push_back(fmt::format("needs {} of an HBM stack that has {}: it does not fit", bytes(c.eta.memory * sharing),
                                bytes(stack)));
  if (!json.replaces_text()) {
    for (const std::string& line : lines) say_text(line);
    Table table({"eta", operation.unit(), "programs", "communication", "efficiency", "binding"});
    for (const bool one : {false, true}) {
      const Result& r = one ? c.one : c.eta;
      table.add({fmt::format("{:.2f}", one ? 1.0 : a.eta), duration(r.seconds), duration(r.compute_s),
                 duration(r.communication_s), percent(one ? c.efficiency_one : c.efficiency), r.binding});
    }
    table.print();
    legend("efficiency: against one chip, modelled likewise");
    legend("eta: the share of the documented rates that collectives reach; binding: what takes the time");
    for (const Curve& curve : curves) print_curve(curve, a.eta);
  }
  if (a.html.empty()) return;
  const std::string nodes = fmt::format("{} node{}", a.nodes, a.nodes > 1 ? "s" : "");
  write_page(a.html, fmt::format("{} on {}, modelled", operation.shape(), f.name),
             {{"command", command_line()},
              {"operation", fmt::format("{}: {}", operation.name(), operation.summary())},
              {"shape", operation.shape()},
              {"dtype", operation.dtype()},
              {"machine", fmt::format("{} chips of {} in {}, {} ranks", at.all_chips(), f.name, nodes, at.size())},
              {"version", fmt::format("trnsci {}", TRN_VERSION)}},
             {lines.begin() + 1, lines.end()}, curves, a.eta);
  if (!json.replaces_text()) say("curves: {}", a.html);
}

}  // namespace

void add(Command& program) {
  Command parent = program.add("scale", "modelled time of an operation on many cores, chips and nodes");
  parent.needs_one("operation");
  std::vector<std::string> names;
  for (const tile::Fabric& f : tile::fabrics()) names.emplace_back(f.name);
  for (std::unique_ptr<Operation>& operation : operations()) {
    Command sub = parent.add(operation->name(), operation->summary());
    auto a = std::make_shared<Arguments>();
    const std::shared_ptr<Operation> op = std::move(operation);
    op->add_options(sub);
    sub.text("--machine", a->machine, "trn1, trn2, trn2u (UltraServer), trn3 or trn3g2", names);
    sub.number("--chips", a->chips, "chips of each node; 0: all", 0, 1024);
    sub.number("--nodes", a->nodes, "instances, or UltraServers", 1, 4096);
    sub.number("--lnc", a->lnc, "cores of a rank", 1, 2);
    sub.real("--eta", a->eta, "share of the documented rates that collectives reach; 1 is printed beside it", 0.01, 1);
    sub.explain();
    sub.flag("--curves", a->curves, "also the curves to 64 instances, as tables");
    sub.text("--html", a->html, "write the curves to this file as a page");
    sub.text("--json", a->json, kJsonHelp);
    sub.run([op, a] { run(*op, *a); });
  }
}

}  // namespace trn::tools::scale

namespace trn::tools {
void add_scale(Command& program) { scale::add(program); }
}  // namespace trn::tools
