// `trnsci sparse info FILE`: what a sparse matrix looks like, what orderings make of it, what the host would run.
// `trnsci coverage sparse`: which operation runs where, found by calling each with small operands.
#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>

#include <nlohmann/json.hpp>

#include <trn/core/error.hpp>
#include <trn/sparse/amg.hpp>
#include <trn/sparse/attention.hpp>
#include <trn/sparse/direct.hpp>
#include <trn/sparse/ilu.hpp>
#include <trn/sparse/ordering.hpp>
#include <trn/sparse/rank_structured.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/triangular.hpp>
#include <trn/sparse/tridiagonal.hpp>
#include <trn/sparse/vectors.hpp>

#include "commands.hpp"
#include "harmless.hpp"
#include "output.hpp"
#include "report/format.hpp"
#include "report/page.hpp"
#include "sparse_matrix.hpp"

namespace trn::tools {

namespace {

using sparse::Csr;
using Z = std::complex<double>;

struct InfoArguments {
  std::string path, json, html;
};

// At most `side` by `side` cells, darker where there are more entries.
std::string spy_svg(const Csr<Z>& a, std::span<const std::int64_t> order) {
  constexpr std::int64_t kSide = 160;
  const std::int64_t n = std::max<std::int64_t>({1, a.rows(), a.columns()}), side = std::min(kSide, n);
  const sparse::Permutation place = sparse::inverse(order);
  std::vector<std::int64_t> cells(static_cast<std::size_t>(side * side), 0);
  const std::int64_t* offsets = a.pattern().offsets().data();
  for (std::int64_t p = 0; p < a.rows(); ++p) {
    const std::int64_t i = order.empty() ? p : order[static_cast<std::size_t>(p)];
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const std::int64_t column = a.pattern().indices().data()[k];
      const std::int64_t j = order.empty() ? column : place[static_cast<std::size_t>(column)];
      ++cells[static_cast<std::size_t>(p * side / n * side + j * side / n)];
    }
  }
  const std::int64_t most = std::max<std::int64_t>(1, *std::max_element(cells.begin(), cells.end()));
  std::string svg = fmt::format(
      "<svg class=\"figure\" viewBox=\"0 0 {} {}\" style=\"max-width:480px;border:1px solid #888\" role=\"img\" "
      "aria-label=\"where the entries are\">",
      side, side);
  for (std::int64_t c = 0; c < side * side; ++c) {
    const std::int64_t count = cells[static_cast<std::size_t>(c)];
    if (count == 0) continue;
    const double shade = 0.3 + 0.7 * static_cast<double>(count) / static_cast<double>(most);
    svg +=
        fmt::format("<rect x=\"{}\" y=\"{}\" width=\"1\" height=\"1\" fill=\"currentColor\" fill-opacity=\"{:.2f}\"/>",
                    c % side, c / side, shade);
  }
  return svg + "</svg>";
}

// Real parts in float32: what a device would multiply. Values do not matter to a plan's estimates.
Csr<float> single(const Csr<Z>& a) {
  std::vector<float> values(static_cast<std::size_t>(a.nnz()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(a.values().data()[k].real());
  return Csr<float>(a.pattern(), VectorView<const float>(Executor::host(), values.data(), a.nnz()));
}

// The numbers of info() as tables: the matrix, its orderings with a picture each, what a device would take.
void write_page(const std::string& path, const nlohmann::ordered_json& out, const std::vector<std::string>& pictures) {
  const auto text = [](const nlohmann::ordered_json& value) {
    return value.is_string()         ? value.get<std::string>()
           : value.is_boolean()      ? std::string(value.get<bool>() ? "yes" : "no")
           : value.is_number_float() ? fmt::format("{:.4g}", value.get<double>())
                                     : value.dump();
  };
  OutputFile page("sparse info", path);
  page.write(neuron::report::page_begin(
      out["file"].get<std::string>(),
      {{"command", command_line()},
       {"shape", fmt::format("{} x {}, {} entries", text(out["rows"]), text(out["columns"]), text(out["nnz"]))},
       {"dtype", out["field"].get<std::string>()},
       {"machine", "the host; modelled times: trn2"},
       {"version", fmt::format("trnsci {}", TRN_VERSION)}}));
  neuron::PageTable matrix{"The matrix", "", {{"what", "value"}}};
  for (const auto& [key, value] : out.items()) {
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', ' ');
    if (key != "file" && key != "machine" && !value.is_structured()) matrix.rows.push_back({name, text(value)});
  }
  matrix.rows.push_back({"the host's kernel for a product", text(out["host"]["spmv_kernel"])});
  matrix.rows.push_back(
      {"bytes of the matrix that it reads", neuron::report::bytes_text(out["host"]["matrix_bytes"].get<double>())});
  page.write("<div class=\"column\">\n" + neuron::report::table_html(matrix) + "</div>\n<div class=\"column\">\n");
  neuron::PageTable orders{"Orderings",
                           "Blocks of 128 x 128 that hold an entry, and the share of their places that do.",
                           {{"order", "blocks", "filled"}}};
  for (const auto& o : out["orderings"]) orders.rows.push_back({o["order"], text(o["blocks"]), percent(o["fill"])});
  page.write(neuron::report::table_html(orders));
  neuron::PageTable device{
      "The matrix times dense columns on one core of a trn2, float32",
      "Modelled, beside an estimate for one core of a host, which takes longer where more is filled than the part in "
      "brackets.",
      {{"columns", "kernel", "tiles, diagonals, coefficients", "filled", "modelled", "host core"}}};
  for (const auto& d : out["devices"]["trn2"]) {
    device.rows.push_back({text(d["columns"]), text(d["kernel"]),
                           text(d["diagonals"] == 0 ? d["tiles"] : d["diagonals"]),
                           fmt::format("{} ({})", percent(d["fill"]), percent(d["break_even_fill"])),
                           duration(d["modelled_seconds"]), duration(d["host_core_seconds"])});
  }
  if (device.rows.size() > 1) page.write(neuron::report::table_html(device));
  page.write("</div>\n");
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    page.write("<section class=\"card half\"><h2>Order: " + out["orderings"][i]["order"].get<std::string>() +
               "</h2>\n" + pictures[i] + "</section>\n");
  }
  page.write(neuron::report::page_end());
  page.commit();
}

void info(const InfoArguments& arguments) {
  constexpr std::int64_t kBlock = 128;
  require_different_files({{"--html", arguments.html}, {"--json", arguments.json}});
  require(arguments.html != "-", "--html: the page goes to a file; '-' is for --json alone");
  if (!arguments.html.empty()) const OutputFile claim("--html", arguments.html);  // a bad path costs nothing
  JsonFile json(arguments.json);
  const Stage stage("sparse info " + harmless(arguments.path));
  const Csr<Z> a = read_sparse<Z>(arguments.path);
  const sparse::Structure s = sparse::structure(a);
  const bool square = a.rows() == a.columns();
  const bool real = std::all_of(a.values().data(), a.values().data() + a.nnz(), [](Z v) { return v.imag() == 0; });
  nlohmann::ordered_json out = {
      {"file", arguments.path},
      {"machine", "trn2"},  // of the modelled times
      {"rows", a.rows()},
      {"columns", a.columns()},
      {"nnz", a.nnz()},
      {"field", real ? "real" : "complex"},
      {"entries_per_row", a.rows() == 0 ? 0.0 : static_cast<double>(a.nnz()) / static_cast<double>(a.rows())},
      {"longest_row", s.longest_row},
      {"empty_rows", s.empty_rows},
      {"empty_columns", s.empty_columns},
      {"pattern_symmetric", s.pattern_symmetric},
      {"symmetric", s.symmetric},
      {"hermitian", s.hermitian},
      {"skew", s.skew},
      {"missing_diagonal", s.missing_diagonal},
      {"lower_bandwidth", s.lower_bandwidth},
      {"upper_bandwidth", s.upper_bandwidth}};
  nlohmann::ordered_json orderings = nlohmann::ordered_json::array();
  std::vector<std::pair<std::string, sparse::Permutation>> orders{{"natural", {}}};
  if (square) {
    orders.emplace_back("rcm", sparse::reverse_cuthill_mckee(a.pattern()));
    orders.emplace_back("partition", sparse::partition(a.pattern(), kBlock));
  }
  for (const auto& [name, order] : orders) {
    const sparse::BlockFill f = sparse::block_fill(a.pattern(), kBlock, order);
    orderings.push_back({{"order", name}, {"block", kBlock}, {"blocks", f.blocks}, {"fill", f.fill}});
  }
  out["orderings"] = orderings;
  const sparse::SpmmPlan<Z> plan(Executor::host(), a);
  out["host"] = {{"spmv_kernel", sparse::name(plan.report().kernel)}, {"matrix_bytes", plan.report().matrix_bytes}};
  const Executor trn2 = Executor::open("sim:trn2");
  const sparse::Csr<float> real_part = single(a);
  nlohmann::ordered_json device = nlohmann::ordered_json::array();
  for (const std::int64_t columns : {1, 32, 512}) {
    if (a.nnz() == 0) break;
    const sparse::SpmmPlan<float> there(trn2, real_part.to(trn2), {.columns = columns});
    const sparse::PlanReport& r = there.report();
    device.push_back({{"columns", columns},
                      {"kernel", sparse::name(r.kernel)},
                      {"tiles", r.tiles},
                      {"diagonals", r.diagonals},
                      {"fill", r.fill},
                      {"break_even_fill", r.break_even_fill},
                      {"modelled_seconds", r.modelled_seconds},
                      {"host_core_seconds", r.host_seconds}});
  }
  out["devices"] = {{"trn2", device}};
  if (!arguments.html.empty()) {
    std::vector<std::string> pictures;
    for (const auto& [name, order] : orders) pictures.push_back(spy_svg(a, order));
    write_page(arguments.html, out, pictures);
  }
  json.write(out);
  if (json.replaces_text()) return;
  say("{}: {} x {}, {} entries, {}; {}", harmless(arguments.path), a.rows(), a.columns(), a.nnz(),
      real ? "real" : "complex",
      s.symmetric           ? "symmetric"
      : s.hermitian         ? "Hermitian"
      : s.skew              ? "skew"
      : s.pattern_symmetric ? "symmetric pattern"
                            : "unsymmetric");
  say("bandwidth {} below, {} above; longest row {}; {} empty rows, {} empty columns, {} rows without a diagonal",
      s.lower_bandwidth, s.upper_bandwidth, s.longest_row, s.empty_rows, s.empty_columns, s.missing_diagonal);
  Table table({"order", "blocks of 128", "filled"});
  for (const auto& o : orderings)
    table.add({o["order"], fmt::format("{}", o["blocks"].get<std::int64_t>()), percent(o["fill"])});
  table.print();
  say("host: the {} kernel, {} of matrix a product", sparse::name(plan.report().kernel),
      bytes(static_cast<double>(plan.report().matrix_bytes)));
  for (const auto& d : device)
    say("trn2, {} columns: the {} kernel, {} filled {}, above {} quicker than a host core; modelled {:.1f} us, a host "
        "core {:.1f} us",
        d["columns"].get<std::int64_t>(), d["kernel"].get<std::string>(),
        d["diagonals"] == 0 ? fmt::format("{} tiles", d["tiles"].get<std::int64_t>())
                            : fmt::format("{} {}", d["diagonals"].get<std::int64_t>(),
                                          d["kernel"] == "stencil" ? "coefficients" : "diagonals"),
        percent(d["fill"]), percent(d["break_even_fill"]), 1e6 * d["modelled_seconds"].get<double>(),
        1e6 * d["host_core_seconds"].get<double>());
}

// One small call of each operation on an executor.
template <Scalar T> struct Calls {
  Executor executor;
  Csr<T> a = sparse::poisson<T>(8, 8).to(executor);
  [[nodiscard]] static sparse::RankMatrix<T> identity() {
    return sparse::blr<T>({4, 4}, [](std::int64_t i, std::int64_t j) { return T(i == j ? 1 : 0); });
  }
  void spmv() const { (void)sparse::SpmmPlan<T>(executor, a); }
  void spgemm() const {
    const sparse::Csr<T> here = a.to(Executor::host());
    const auto b = sparse::convert<sparse::Bsr<T>>(here, {.block_rows = 128, .block_columns = 128}).to(executor);
    (void)sparse::BlockSpgemmPlan<T>(executor, b, b).execute(T(1), b, b);
    if (executor.family() == Family::Host) (void)sparse::spgemm<T>(executor, T(1), a, a);
  }
  void sddmm() const {
    const auto d = Matrix<T>::from_host(executor, 64, 4, std::vector<T>(256, T(1)));
    (void)sparse::sddmm<T>(executor, T(1), d.view(), d.view().transposed(), T(0), a);
  }
  void spsv() const { (void)sparse::TriangularPlan<T>(executor, a); }
  void attention() const {
    if constexpr (RealScalar<T>)
      (void)sparse::AttentionPlan<T>(executor, sparse::AttentionMask::full(4, 4), {.d = 4});
    else
      fail<NotImplemented>("sparse.attention: real types only");
  }
  void convert() const { (void)sparse::transpose(a); }
  void ilu() const { (void)sparse::ilu(a); }
  void direct() const { (void)sparse::Cholesky<T>(a), (void)sparse::Lu<T>(a), (void)sparse::Qr<T>(a); }
  void amg() const { (void)sparse::Amg<T>(a); }
  void rank_product() const { (void)identity().to(executor); }
  void rank_factors() const { (void)sparse::RankFactors<T>(identity().to(executor)); }
  void ssor() const { (void)sparse::Ssor<T>(a); }
  void tridiagonal() const {
    const auto d = Matrix<T>::from_host(executor, 1, 4, std::vector<T>(4, T(1))), b = d.to(executor);
    (void)sparse::TridiagonalPlan<T>(executor, d.view(), d.view(), d.view()).solve(b.view());
    if (executor.family() == Family::Host)
      (void)sparse::solve_tridiagonal<T>(executor, d.view(), d.view(), d.view(), b.view());
  }
  void vectors() const {
    const std::vector<std::int32_t> at{1};
    const std::vector<T> one{T(1)};
    const Array<T> y(executor, {4});
    (void)sparse::spvv(Op::N, sparse::SparseVector<T>(executor, 4, at, one),
                       VectorView<const T>(executor, y.data(), 4));
  }
};

template <Scalar T> bool runs(const Executor& executor, int row) {
  using C = Calls<T>;
  constexpr void (C::*calls[])()
      const = {&C::spmv,    &C::spgemm, &C::sddmm, &C::attention, &C::spsv,   &C::tridiagonal,  &C::vectors,
               &C::convert, &C::ilu,    &C::ssor,  &C::amg,       &C::direct, &C::rank_product, &C::rank_factors};
  try {
    (C{executor}.*calls[row])();
    return true;
  } catch (const NotImplemented&) {
    return false;
  }
}

}  // namespace

void print_sparse_coverage() {
  constexpr const char* rows[] = {"SpMV, SpMM",
                                  "SpGEMM (devices: blocks of 128)",
                                  "SDDMM",
                                  "block-sparse attention, forward and backward",
                                  "SpSV, SpSM",
                                  "tridiagonal batches (devices: factored)",
                                  "SpVV, axpby, gather, scatter, rot",
                                  "conversions, transpose, add",
                                  "ILU(0), ILU(k), ILUT, IC(0)",
                                  "Jacobi, SSOR, Chebyshev, SPAI",
                                  "AMG",
                                  "Cholesky, LU, QR: factor, refactor, solve",
                                  "BLR and HODLR products",
                                  "BLR and HODLR: LU, Cholesky, solve"};
  fmt::print("| operation |");
  std::vector<Executor> executors;
  for (const char* name : {"host", "sim:trn1", "sim:trn2", "sim:trn3"}) {
    executors.push_back(Executor::open(name));
    fmt::print(" `{}` |", name);
  }
  fmt::print("\n|---|---|---|---|---|\n");
  for (int row = 0; row < static_cast<int>(std::size(rows)); ++row) {
    std::string line = fmt::format("| {} |", rows[row]);
    for (const Executor& e : executors) {
      std::string cell;
      if (runs<float>(e, row)) cell += " s";
      if (runs<double>(e, row)) cell += " d";
      if (runs<std::complex<float>>(e, row)) cell += " c";
      if (runs<Z>(e, row)) cell += " z";
      line += (cell.empty() ? " -" : cell) + " |";
    }
    fmt::print("{}\n", line);
  }
}

void add_sparse(Command& program) {
  Command parent = program.add("sparse", "sparse matrices: info FILE");
  parent.needs_one("command");
  Command sub = parent.add("info", "size, symmetry, bandwidth, block fill in three orderings, a picture");
  auto arguments = std::make_shared<InfoArguments>();
  sub.text("file", arguments->path, ".mtx, .npz or Harwell-Boeing").required().reads();
  sub.text("--json", arguments->json, kJsonHelp);
  sub.text("--html", arguments->html, "write a page with pictures of the matrix to this file");
  sub.run([arguments] { info(*arguments); });
}

}  // namespace trn::tools
