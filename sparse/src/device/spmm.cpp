// Plans and launches of sparse times dense on a device. The plan brings A to the host, orders it, tiles it both ways as
// far as the machine has them, takes the time of each program, and uploads the tiles of the quickest.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <trn/sparse/structure.hpp>
#include <trn/sparse/tile_programs.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>
#include <trn/tile/words.hpp>

#include "../kernels.hpp"
#include "tiling.hpp"

namespace trn::sparse::device {

namespace {

constexpr const char* kPlan = "sparse.spmm.plan";
// One host core on float32, as measured when the kernels were designed: for the break-even that a plan reports.
constexpr double kHostVectorRate = 4.5e9, kHostMatrixRate = 30e9;
// A program has the pattern of its blocks written out; beyond this it is not made where there is another way.
constexpr std::int64_t kMostBlocks = tile::kWrittenOut, kMostBlocksWithoutGather = 200000;

constexpr std::int64_t kMostDiagonals = 512;  // of the kernel 'dia'; where nobody asked for it, less than half are pads

constexpr std::int64_t kMostColumns = 16;  // of B, for which 'dia' is looked at unasked

constexpr std::int64_t kMostWrittenOut = tile::kWrittenOut / 4;  // gathered tiles: a few instructions each

struct State {
  TileProduct product;
  Kernel kernel = Kernel::Resident;
  BlockTiles blocks;
  GatherTiles gathered;
  DiagonalShape diagonals;
  StencilShape stencil;
  std::optional<Buffer> values, numbers;
  // What a target's execute() looks at: the largest sum of |a| in a row, the largest |a| of each column.
  double largest_sum = 0;
  std::vector<float> columns;
};

ResidentShape resident_shape(const TileProduct& p, const BlockTiles& t, bool pinned) {
  return {p, pinned, t.offsets, t.blocks};
}
GatherShape gather_shape(const TileProduct& p, const GatherTiles& t) { return {p, t.own, t.written_out, t.runs}; }

template <class Shape> Shape with_product(Shape s, TileProduct p) {
  p.mode = Mode::Native;
  s.product = p;
  return s;
}

Csr<float> on_host(const SpmmPlanArgs<float>& g, std::optional<Permutation>& order) {
  const AnySparse<float> here =
      std::visit([](const auto& a) { return AnySparse<float>(a.to(Executor::host())); }, g.a.held());
  const AnySparse<float> ordered = reordered(here, g.options.reorder, order);
  const Csr<float> csr = std::visit(
      [](const auto& a) -> Csr<float> {
        if constexpr (std::same_as<std::decay_t<decltype(a)>, Csr<float, std::int64_t>>)
          return with_index<std::int32_t>(a);
        else
          return to_csr(a);
      },
      ordered.held());
  return g.options.op == Op::N ? csr : transpose(csr);
}

std::int64_t longest_row(const FloatRef& a) {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) most = std::max(most, a.offsets[i + 1] - a.offsets[i]);
  return most;
}

// Roundings of a sum of k products that lie in `tiles` tiles: a zero adds none. Three more for alpha and beta.
double bound_of(Mode mode, std::int64_t k, std::int64_t tiles) {
  const tile::Words& w = tile::words_of(mode);
  const auto in_tile = static_cast<double>(std::min(k, kSide)), groups = static_cast<double>(std::min(k, tiles));
  return (in_tile + w.psum_additions * groups + w.extra_roundings + 3) * 0x1p-24 + w.product_error;
}

// The largest |a|, of all and of each column, and the largest sum of them in a row; not finite where an element is.
struct Sizes {
  double largest = 0, largest_sum = 0;
  std::vector<float> columns = {};
};
Sizes sizes_of(const FloatRef& a) {
  Sizes s;
  s.columns.resize(static_cast<std::size_t>(a.columns));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    double sum = 0;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      sum += std::abs(static_cast<double>(a.values[k]));
      float& column = s.columns[static_cast<std::size_t>(a.indices[k])];
      column = std::max(column, std::abs(a.values[k]));
      s.largest = std::max(s.largest, std::abs(static_cast<double>(a.values[k])));
    }
    if (!(sum <= s.largest_sum)) s.largest_sum = sum;
    if (!std::isfinite(sum)) return {sum, sum};
  }
  return s;
}
// The largest magnitude of each row; infinite or NaN in all where an element is.
std::vector<double> row_sizes(const Executor& executor, const MatrixView<const float>& x) {
  const Array<float> here(Executor::host(), {x.rows(), x.columns()});
  copy(View<const float>(executor, x.data(), {x.rows(), x.columns()}, {x.row_stride(), x.column_stride()}),
       here.view());
  std::vector<double> most(static_cast<std::size_t>(x.rows()));
  for (std::int64_t i = 0; i < x.rows() * x.columns(); ++i) {
    const double size = std::abs(static_cast<double>(here.data()[i]));
    if (!std::isfinite(size)) return std::vector<double>(most.size(), size);
    double& row = most[static_cast<std::size_t>(i / x.columns())];
    row = std::max(row, size);
  }
  return most;
}
double largest_of(const std::vector<double>& x) { return x.empty() ? 0 : *std::max_element(x.begin(), x.end()); }

// Whether the leading word of a number is finite; Native has the number itself.
bool fits(Mode mode, double largest) {
  const tile::Words& w = tile::words_of(mode);
  return std::isfinite(largest) && (w.dtype == DType::Float32 || largest < w.overflow);
}

Accuracy accuracy_of(const Precision& precision, std::int64_t k, std::int64_t tiles, const Sizes& sizes) {
  const auto made = [&](Mode mode) {
    return Accuracy{mode, static_cast<int>(tile::words_of(mode).products.size()), bound_of(mode, k, tiles)};
  };
  if (!precision.has_target()) {
    if (precision.mode() == Mode::Exact)
      fail<NotImplemented>("{}: mode exact has no device kernel here; use native, tf32, bf16, tf32x3 or bf16x6", kPlan);
    return made(precision.mode());
  }
  require(std::isfinite(sizes.largest), "{}: A has an element that is not finite; no target can be kept: use a mode",
          kPlan);
  double best = 1;
  for (const Mode mode : {Mode::Bf16, Mode::Tf32, Mode::Tf32x3, Mode::Native, Mode::Bf16x6}) {
    if (!fits(mode, sizes.largest)) continue;
    const Accuracy a = made(mode);
    if (a.bound <= precision.target_error()) return a;
    best = std::min(best, a.bound);
  }
  fail<InvalidArgument>("{}: target error {} is below {}, the least that a mode keeps here; ask for at least that",
                        kPlan, precision.target_error(), best);
}

// A bound holds where nothing overflows; a call with a target looks, as trnblas's products do.
void check_range(const Executor& executor, const State& s, const SpmmArgs<float>& g) {
  constexpr const char* operation = "sparse.spmm";
  const Accuracy& accuracy = *g.plan->accuracy;
  const bool reads_b = g.alpha != 0 && g.plan->report.nnz > 0;
  const std::vector<double> rows = reads_b ? row_sizes(executor, g.b) : std::vector<double>();
  const double b = largest_of(rows), c = g.beta == 0 ? 0 : largest_of(row_sizes(executor, g.c));
  require(
      fits(accuracy.mode, b),
      "{}: B has an element of {}, which words of {} cannot hold; the plan's target cannot be kept: scale B, or make "
      "a plan with mode native",
      operation, b, name(accuracy.mode));
  double product = 0;  // the largest
  for (std::size_t k = 0; k < rows.size(); ++k)
    product = std::max(product, static_cast<double>(s.columns[k]) * rows[k]);
  const double growth = (1 + 0x1p-6) * (1 + 2 * accuracy.bound);
  const double sum = growth * std::min(s.largest_sum * b, static_cast<double>(g.plan->report.longest_row) * product);
  const double alpha = std::abs(static_cast<double>(g.alpha)), beta = std::abs(static_cast<double>(g.beta));
  const double total = std::max(sum, alpha * sum + growth * beta * c);
  require(total <= std::numeric_limits<float>::max(),
          "{}: sums may reach {}, which float32 cannot hold; the plan's target cannot be kept: scale the operands, or "
          "make a plan with a mode",
          operation, total);
}

// Up to four additions before the products of the groups, of which three entries are not zero.
Accuracy stencil_accuracy(const StencilShape& s) {
  const tile::Words& w = tile::words_of(Mode::Native);
  const auto groups = static_cast<double>(s.groups.size());
  return {Mode::Native, 1, (4 + 3 + w.psum_additions * groups + w.extra_roundings + 3) * 0x1p-24};
}

// The kernel of stencils, where its precision is what was asked for.
std::optional<Stencil> consider_stencil(const Precision& precision, const FloatRef& a, const tile::Machine& machine,
                                        const Accuracy& accuracy, State& s, PlanReport& r) {
  const std::optional<Stencil> found = stencil_of(a);
  if (!found) return {};
  TileProduct p = s.product;
  p.mode = Mode::Native;
  s.stencil = stencil_shape(p, *found);
  const bool kept = precision.has_target() ? stencil_accuracy(s.stencil).bound <= precision.target_error()
                                           : accuracy.mode == Mode::Native;
  if (!kept || s.stencil.groups.empty()) return {};
  r.alternatives.push_back({Kernel::Stencil, static_cast<std::int64_t>(4 * stencil_bands(s.stencil, *found).size()), 1,
                            roof_seconds(stencil_program(s.stencil, machine), machine)});
  return found;
}

// A product of each entry, sums of them, alpha, and beta C: k + 3 roundings.
Accuracy diagonal_accuracy(std::int64_t longest_row) {
  return {Mode::Native, 1, static_cast<double>(longest_row + 3) * 0x1p-24};
}

// The kernel of diagonals, where its precision is what was asked for: mode native, or a target that native keeps.
void consider_diagonals(const Precision& precision, const FloatRef& a, const tile::Machine& machine, bool wanted,
                        bool automatic, const Accuracy& accuracy, State& s, PlanReport& r) {
  const bool kept = precision.has_target() ? diagonal_accuracy(r.longest_row).bound <= precision.target_error()
                                           : accuracy.mode == Mode::Native;
  if (!wanted || !kept) return;
  TileProduct p = s.product;
  p.mode = Mode::Native;
  const std::vector<std::int64_t> offsets = diagonals_of(
      a, automatic ? std::min(kMostDiagonals, 2 * r.nnz / std::max<std::int64_t>(1, a.rows)) : kMostDiagonals);
  s.diagonals = diagonal_shape(p, offsets, machine);
  const DiagonalShape& d = s.diagonals;
  if (d.tiles == 0) return;
  const std::int64_t stored = d.tiles * d.stretch() * kSide * static_cast<std::int64_t>(offsets.size());
  r.alternatives.push_back({Kernel::Dia, 4 * stored, static_cast<double>(r.nnz) / static_cast<double>(stored),
                            roof_seconds(diagonal_program(d, machine), machine)});
}

}  // namespace

SpmmMade<float> plan_spmm(const Executor& executor, const SpmmPlanArgs<float>& g) {
  const tile::Machine& machine = tile::device_of(executor).machine();
  const Kernel asked = g.options.kernel;
  if (asked != Kernel::Automatic && asked != Kernel::Dia && asked < Kernel::Resident)
    fail<NotImplemented>("{}: '{}' is a kernel of the host; devices have resident, pinned, gather, dia and stencil",
                         kPlan, name(asked));
  std::optional<Permutation> order;
  const Csr<float> csr = on_host(g, order);
  const FloatRef a = host_ref(csr);
  State s;
  s.blocks = block_tiles(a);
  const auto blocks = static_cast<std::int64_t>(s.blocks.blocks.size());
  std::int64_t most = 0;
  for (std::size_t w = 1; w < s.blocks.offsets.size(); ++w)
    most = std::max(most, s.blocks.offsets[w] - s.blocks.offsets[w - 1]);
  if (machine.indirect_dma) {
    s.gathered = gather_tiles(a, kMostWrittenOut);
    most = std::max(most, s.gathered.most);
  }
  PlanReport r;
  r.nnz = a.nnz(), r.longest_row = longest_row(a);
  Sizes sizes = g.options.precision.has_target() ? sizes_of(a) : Sizes{};
  s.largest_sum = sizes.largest_sum;
  Accuracy accuracy = accuracy_of(g.options.precision, r.longest_row, most, sizes);
  s.columns = std::move(sizes.columns);
  const std::int64_t n = std::max<std::int64_t>(1, g.options.columns);
  s.product = {a.rows, a.columns, n, n, 1, n, 1, accuracy.mode, false, false};
  const auto word_bytes = [&] {
    const tile::Words& w = tile::words_of(accuracy.mode);
    return w.count * size_bytes(w.dtype);
  }();
  if (a.nnz() > 0) {
    const auto consider = [&](Kernel kernel, std::int64_t tiles, const tile::Program& program) {
      r.alternatives.push_back({kernel, tiles * kSide * kSide * word_bytes,
                                static_cast<double>(r.nnz) / static_cast<double>(tiles * kSide * kSide),
                                roof_seconds(program, machine)});
    };
    const bool any = asked == Kernel::Automatic;
    const std::int64_t limit = machine.indirect_dma && any ? kMostBlocks : kMostBlocksWithoutGather;
    for (const bool pinned : {false, true}) {
      if (!any && asked != (pinned ? Kernel::Pinned : Kernel::Resident)) continue;
      const ResidentShape shape = resident_shape(s.product, s.blocks, pinned);
      if (blocks > limit || resident_panel(shape, machine) == 0) continue;
      consider(pinned ? Kernel::Pinned : Kernel::Resident, blocks, resident_program(shape, machine));
    }
    if (machine.indirect_dma && (any || asked == Kernel::Gather))
      consider(Kernel::Gather, s.gathered.tiles(), gather_program(gather_shape(s.product, s.gathered), machine));
    consider_diagonals(g.options.precision, a, machine, (any && n <= kMostColumns) || asked == Kernel::Dia, any,
                       accuracy, s, r);
    std::optional<Stencil> grid;
    if ((any && n == 1) || asked == Kernel::Stencil)
      grid = consider_stencil(g.options.precision, a, machine, accuracy, s, r);
    if (r.alternatives.empty() && asked == Kernel::Stencil)
      fail<NotImplemented>(
          "{}: kernel 'stencil' takes a matrix that has the same coefficients at every point of a grid of two or three "
          "dimensions, for neighbours up to one step away and zeros outside, in mode native; ask for another kernel",
          kPlan);
    if (r.alternatives.empty() && asked == Kernel::Dia)
      fail<NotImplemented>(
          "{}: kernel 'dia' takes up to {} diagonals in mode native and windows of B that fit SBUF; ask for another "
          "kernel or mode",
          kPlan, kMostDiagonals);
    if (r.alternatives.empty())
      fail<NotImplemented>(
          "{}: {} blocks of 128 x 128 and {} rows of B do not suit '{}' on '{}'{}; use another kernel or the host",
          kPlan, blocks, a.columns, name(asked), executor.name(), machine.indirect_dma ? "" : ", which has no gathers");
    const auto best = std::min_element(r.alternatives.begin(), r.alternatives.end(),
                                       [](const auto& x, const auto& y) { return x.seconds < y.seconds; });
    r.kernel = best->kernel, r.matrix_bytes = best->bytes, r.fill = best->fill, r.modelled_seconds = best->seconds;
    const bool dia = r.kernel == Kernel::Dia, stencil = r.kernel == Kernel::Stencil;
    r.tiles = dia || stencil ? 0 : r.kernel == Kernel::Gather ? s.gathered.tiles() : blocks;
    r.diagonals =
        dia       ? static_cast<std::int64_t>(s.diagonals.offsets.size())
        : stencil ? std::count_if(grid->coefficients.begin(), grid->coefficients.end(), [](float c) { return c != 0; })
                  : 0;
    if (stencil) accuracy = stencil_accuracy(s.stencil);
    if (dia) accuracy = diagonal_accuracy(r.longest_row);
    const double rate = n == 1 ? kHostVectorRate : kHostMatrixRate;
    r.host_seconds = 2.0 * static_cast<double>(r.nnz) * static_cast<double>(n) / rate;
    r.stored = stencil ? r.nnz
               : dia   ? s.diagonals.tiles * s.diagonals.stretch() * kSide * r.diagonals
                       : r.tiles * kSide * kSide;
    // Of the places that are stored: how many entries take that core as long as the device takes.
    const double seconds = r.modelled_seconds - machine.timing.launch_s - machine.timing.finish_s;
    r.break_even_fill = seconds * rate / static_cast<double>(2 * r.stored * n);
    const bool gathers = r.kernel == Kernel::Gather;
    const std::vector<float> diagonals = dia       ? diagonal_values(a, s.diagonals)
                                         : stencil ? stencil_bands(s.stencil, *grid)
                                                   : std::vector<float>();
    const std::vector<std::byte> values = dia || stencil ? std::vector<std::byte>()
                                          : gathers      ? tile_values(a, s.gathered, accuracy.mode)
                                                         : tile_values(a, s.blocks, accuracy.mode);
    s.values = tile::upload_constant(executor, "sparse.tiles",
                                     dia || stencil ? std::as_bytes(std::span(diagonals)) : std::span(values));
    if (gathers) {
      const std::vector<std::uint32_t> numbers = tile_numbers(a, s.gathered);
      if (!numbers.empty())
        s.numbers = tile::upload_constant(executor, "sparse.numbers", std::as_bytes(std::span(numbers)));
    }
  } else {
    r.kernel = asked == Kernel::Automatic ? Kernel::Resident : asked;
  }
  s.kernel = r.kernel;
  const Extents turned{a.rows, a.columns};
  return std::make_shared<const detail::SpmmData<float>>(detail::SpmmData<float>{
      g.a, g.options, turned, std::move(r), std::make_shared<const State>(std::move(s)), accuracy, std::move(order)});
}

void spmm(const Executor& executor, const SpmmArgs<float>& g) {
  if (g.c.rows() == 0 || g.c.columns() == 0) return;
  const State& s = *static_cast<const State*>(g.plan->state.get());
  if (g.plan->options.precision.has_target()) check_range(executor, s, g);
  TileProduct p = s.product;
  p.n = g.c.columns();
  p.b_row = g.b.row_stride(), p.b_column = g.b.column_stride();
  p.c_row = g.c.row_stride(), p.c_column = g.c.column_stride();
  p.scaled = g.alpha != 1, p.added = g.beta != 0;
  if (g.narrow != nullptr) {
    p.narrow = true;
    p.b_row = g.narrow->row_stride(), p.b_column = g.narrow->column_stride();
  }
  const std::vector<tile::Argument> arguments{
      {"a", s.values ? static_cast<const void*>(s.values->data()) : nullptr},
      {"index", s.numbers ? static_cast<const void*>(s.numbers->data()) : nullptr},
      {"b", g.narrow != nullptr ? static_cast<const void*>(g.narrow->data()) : static_cast<const void*>(g.b.data())},
      {"c", static_cast<void*>(g.c.data())},
      {"c_in", static_cast<const void*>(g.c.data())},
      tile::constant("alpha", std::array{g.alpha}),
      tile::constant("beta", std::array{g.beta})};
  if (g.alpha == 0 || g.plan->report.nnz == 0) {  // C = beta C: windows without tiles
    if (g.beta == 1) return;
    p.scaled = false;
    GatherShape nothing{p, false, false, {}};
    if (p.rows >= kSide) nothing.runs.push_back({p.rows / kSide, 0});
    if (p.rows % kSide != 0) nothing.runs.push_back({1, 0});
    tile::launch(executor, gather_program, nothing, arguments);
  } else if (s.kernel == Kernel::Gather) {
    tile::launch(executor, gather_program, gather_shape(p, s.gathered), arguments);
  } else if (s.kernel == Kernel::Dia) {
    tile::launch(executor, diagonal_program, with_product(s.diagonals, p), arguments);
  } else if (s.kernel == Kernel::Stencil) {
    tile::launch(executor, stencil_program, with_product(s.stencil, p), arguments);
  } else {
    tile::launch(executor, resident_program, resident_shape(p, s.blocks, s.kernel == Kernel::Pinned), arguments);
  }
}

}  // namespace trn::sparse::device

namespace trn::sparse {

struct detail::SpmmAccess {
  static const SpmmData<float>& data(const SpmmPlan<float>& plan) { return *plan.data_; }
};

tile::Program spmm_program(const SpmmPlan<float>& plan, std::int64_t columns) {
  const tile::Machine& machine = tile::device_of(plan.executor()).machine();
  const detail::SpmmData<float>& data = detail::SpmmAccess::data(plan);
  require(data.report.nnz > 0 && columns > 0, "sparse: a product with nothing has no program");
  const auto& s = *static_cast<const device::State*>(data.state.get());
  TileProduct p = s.product;
  p.n = p.b_row = p.c_row = columns;
  if (s.kernel == Kernel::Dia) return diagonal_program(device::with_product(s.diagonals, p), machine);
  if (s.kernel == Kernel::Stencil) return stencil_program(device::with_product(s.stencil, p), machine);
  return s.kernel == Kernel::Gather
             ? gather_program(device::gather_shape(p, s.gathered), machine)
             : resident_program(device::resident_shape(p, s.blocks, s.kernel == Kernel::Pinned), machine);
}

BlockTiles spmm_block_tiles(const SpmmPlan<float>& plan) {
  constexpr const char* operation = "sparse.operator.block_tiles";
  const Kernel kernel = plan.report().kernel;
  require(kernel == Kernel::Resident || kernel == Kernel::Pinned,
          "{}: the plan has the kernel '{}', which has no tiles of neighbouring columns; make the operator on a device "
          "with kernel 'pinned' or 'resident'",
          operation, name(kernel));
  require(plan.rows() == plan.columns(), "{}: A is {} x {}; it must be square", operation, plan.rows(), plan.columns());
  const detail::SpmmData<float>& data = detail::SpmmAccess::data(plan);
  const auto& s = *static_cast<const device::State*>(data.state.get());
  require(s.product.mode == Mode::Native, "{}: the plan has words of {}; make it with mode native", operation,
          name(s.product.mode));
  return {plan.rows(), s.blocks.offsets, s.blocks.blocks,
          s.values ? static_cast<const float*>(s.values->data()) : nullptr};
}

}  // namespace trn::sparse
