// The host's plans: which kernel suits the matrix, its form, parts of equal work; and the loop over parts.
#include "host/spmm_kernels.hpp"

#include <algorithm>
#include <numeric>

#include <trn/core/parallel.hpp>
#include <trn/sparse/structure.hpp>

#include "kernels.hpp"
#include "scalars.hpp"

namespace trn::sparse::host {

namespace {

constexpr std::int64_t kWidth = 32;          // columns of a packed panel of B
constexpr std::int64_t kPartWork = 1 << 14;  // entries and rows of a part: microseconds, and never a part of a row
constexpr std::int64_t kWorthThreads = 1 << 16;
constexpr std::int64_t kMostBands = 256;  // diagonals up to which a matrix may be taken by them
constexpr double kShortRows = 16;         // entries a row, on average, up to which slices of eight rows win

// Eight rows at a time, as SellArgs describes it.
template <Scalar T> struct Slices {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> lengths, order;
  Array<std::int32_t> indices = host_array<std::int32_t>(0);
  Array<T> values = host_array<T>(0);
};

// Diagonals as BandArgs describes them.
template <Scalar T> struct Bands {
  std::vector<std::int64_t> diagonals;
  Array<T> values = host_array<T>(0);
  Array<std::uint32_t> masks = host_array<std::uint32_t>(0);
};
std::int64_t band_blocks(std::int64_t rows) { return (rows + kBandRows - 1) / kBandRows; }
template <Scalar T> std::int64_t band_bytes(std::int64_t rows, std::int64_t count) {
  return band_blocks(rows) * count * (kBandRows * static_cast<std::int64_t>(sizeof(T)) + 4);
}

template <Scalar T> struct State {
  std::optional<Csr<T>> csr;
  std::optional<Csr<T, std::int64_t>> csr64;
  std::optional<Bsr<T>> bsr;
  std::optional<Dia<T>> dia;
  std::optional<Bands<T>> bands;
  Slices<T> slices;
  std::vector<std::int64_t> parts;  // unit at which each part begins; the last one is the number of units
  std::int64_t work = 0;
  bool far = false;  // CsrArgs::far
};

// Whether A consists of full, aligned b x b blocks.
template <Scalar T> bool full_blocks(const CsrRef<T, std::int32_t>& a, std::int64_t b) {
  if (a.rows % b != 0 || a.columns % b != 0 || a.nnz() == 0) return false;
  for (std::int64_t i = 0; i < a.rows; i += b) {
    const std::int64_t begin = a.offsets[i], count = a.offsets[i + 1] - begin;
    if (count % b != 0) return false;
    for (std::int64_t r = 1; r < b; ++r) {
      if (a.offsets[i + r + 1] - a.offsets[i + r] != count ||
          !std::equal(a.indices + begin, a.indices + begin + count, a.indices + a.offsets[i + r]))
        return false;
    }
    for (std::int64_t k = begin; k < begin + count; k += b) {
      if (a.indices[k] % b != 0 || a.indices[k + b - 1] != a.indices[k] + b - 1) return false;
    }
  }
  return true;
}

template <Scalar T> Slices<T> slice_up(const CsrRef<T, std::int32_t>& a) {
  constexpr std::int64_t kWindow = 1024;
  Slices<T> s;
  const std::int64_t h = kSliceHeight, slices = (a.rows + h - 1) / h;
  const auto length = [&](std::int32_t i) { return static_cast<std::int32_t>(a.offsets[i + 1] - a.offsets[i]); };
  s.order.resize(static_cast<std::size_t>(a.rows));
  std::iota(s.order.begin(), s.order.end(), 0);
  for (std::int64_t begin = 0; begin < a.rows; begin += kWindow) {
    std::stable_sort(s.order.begin() + begin, s.order.begin() + std::min(a.rows, begin + kWindow),
                     [&](std::int32_t x, std::int32_t y) { return length(x) > length(y); });
  }
  s.lengths.resize(static_cast<std::size_t>(slices * h));
  s.offsets.resize(static_cast<std::size_t>(slices) + 1);
  s.indices = host_array<std::int32_t>(a.nnz());
  s.values = host_array<T>(a.nnz());
  std::int64_t at = 0;
  for (std::int64_t k = 0; k < slices; ++k) {
    s.offsets[static_cast<std::size_t>(k)] = at;
    const std::int64_t rows = std::min(h, a.rows - k * h);
    std::int32_t* lengths = s.lengths.data() + k * h;
    for (std::int64_t l = 0; l < rows; ++l) lengths[l] = length(s.order[static_cast<std::size_t>(k * h + l)]);
    const std::int32_t full = lengths[h - 1];
    const auto put = [&](std::int64_t l, std::int64_t entry) {
      const std::int64_t from = a.offsets[s.order[static_cast<std::size_t>(k * h + l)]] + entry;
      s.indices.data()[at] = a.indices[from];
      s.values.data()[at++] = a.values[from];
    };
    for (std::int32_t e = 0; e < full; ++e) {
      for (std::int64_t l = 0; l < h; ++l) put(l, e);
    }
    for (std::int64_t l = 0; l < rows; ++l) {
      for (std::int32_t e = full; e < lengths[l]; ++e) put(l, e);
    }
  }
  s.offsets[static_cast<std::size_t>(slices)] = at;
  return s;
}

// The diagonals that hold an entry, rising; none where there are more than `most`.
template <Scalar T> std::vector<std::int64_t> diagonals_of(const CsrRef<T, std::int32_t>& a, std::int64_t most) {
  std::vector<char> seen(static_cast<std::size_t>(a.rows + a.columns), 0);
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      char& mark = seen[static_cast<std::size_t>(a.indices[k] - i + a.rows)];
      if (mark != 0) continue;
      mark = 1;
      found.push_back(a.indices[k] - i);
      if (static_cast<std::int64_t>(found.size()) > most) return {};
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Whether rows of B come in an order that no processor foresees and few caches hold: no diagonals, and columns that are
// far from the row on average.
template <Scalar T> bool scattered(const CsrRef<T, std::int32_t>& a) {
  constexpr std::int64_t kFarRows = 2048;
  if (a.nnz() == 0 || !diagonals_of(a, kMostBands).empty()) return false;
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) sum += std::abs(a.indices[k] - i);
  }
  return sum / a.nnz() > kFarRows;
}

template <Scalar T> Bands<T> band_up(const CsrRef<T, std::int32_t>& a, std::vector<std::int64_t> diagonals) {
  const auto count = static_cast<std::int64_t>(diagonals.size()), blocks = band_blocks(a.rows);
  Bands<T> b{std::move(diagonals), host_array<T>(byte_count({blocks, count, kBandRows}, 1)),
             host_array<std::uint32_t>(blocks * count)};
  std::fill_n(b.values.data(), b.values.size(), T(0));
  std::fill_n(b.masks.data(), b.masks.size(), 0U);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::int64_t at = i / kBandRows * count, next = 0;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {  // indices rise, and so do their diagonals
      while (b.diagonals[static_cast<std::size_t>(next)] != a.indices[k] - i) ++next;
      b.values.data()[(at + next) * kBandRows + i % kBandRows] = a.values[k];
      b.masks.data()[at + next] |= 1U << (i % kBandRows);
    }
  }
  return b;
}

// Cuts units into parts of about kPartWork each; work(u) is that of the units before u.
template <class W> std::vector<std::int64_t> cut(std::int64_t units, const W& work) {
  std::vector<std::int64_t> parts{0};
  for (std::int64_t u = 1; u <= units; ++u) {
    if (u == units || work(u) - work(parts.back()) >= kPartWork) parts.push_back(u);
  }
  if (units == 0) parts.push_back(0);
  return parts;
}

template <Scalar T, Index I> std::int64_t longest(const CsrRef<T, I>& a) {
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) most = std::max(most, a.offsets[i + 1] - a.offsets[i]);
  return most;
}

template <Scalar T, Index I> std::int64_t csr_bytes(const CsrRef<T, I>& a) {
  return a.nnz() * static_cast<std::int64_t>(sizeof(T) + sizeof(I)) + 8 * (a.rows + 1);
}

template <Scalar T, Index I> Csr<T, I> with_op(const Csr<T, I>& a, Op op) {
  return op == Op::N ? a : op == Op::T || RealScalar<T> ? transpose(a) : adjoint(a);
}

// The matrix as Csr with the op applied: of 32-bit indices where they suffice.
template <Scalar T> void take(State<T>& s, const AnySparse<T>& a, Op op) {
  std::visit(
      [&](const auto& x) {
        using A = std::decay_t<decltype(x)>;
        if constexpr (std::same_as<A, Csr<T, std::int64_t>>) {
          if (x.rows() <= kMostExtent<std::int32_t> && x.columns() <= kMostExtent<std::int32_t>)
            s.csr = with_op(with_index<std::int32_t>(x), op);
          else
            s.csr64 = with_op(x, op);
        } else {
          s.csr = with_op(to_csr(x), op);
        }
      },
      a.held());
}

template <Scalar T> void choose(State<T>& s, PlanReport& r, const AnySparse<T>& a, const SpmmOptions& o) {
  const Bsr<T>* bsr = std::get_if<Bsr<T>>(&a.held());
  const Dia<T>* dia = std::get_if<Dia<T>>(&a.held());
  const bool automatic = o.kernel == Kernel::Automatic, vector = o.columns <= 1;
  if (o.op == Op::N && bsr != nullptr && (o.kernel == Kernel::Bsr || (automatic && vector))) {
    s.bsr = *bsr;
    r.kernel = Kernel::Bsr;
    return;
  }
  if (o.op == Op::N && dia != nullptr && (o.kernel == Kernel::Dia || (automatic && vector))) {
    s.dia = *dia;
    r.kernel = Kernel::Dia;
    return;
  }
  take(s, a, o.op);
  if (s.csr64) {
    if (!automatic && o.kernel != Kernel::Csr)
      fail<NotImplemented>("sparse.spmm.plan: extents beyond 32 bits have the Csr kernel only, not '{}'",
                           name(o.kernel));
    r.kernel = Kernel::Csr;
    return;
  }
  const CsrRef<T, std::int32_t> c = host_ref(*s.csr);
  r.kernel = o.kernel;
  std::int64_t block = 0;
  if (o.kernel == Kernel::Bsr || (automatic && vector)) {
    for (const std::int64_t b : {3, 2, 4}) {
      if (block == 0 && full_blocks(c, b)) block = b;
    }
  }
  std::vector<std::int64_t> diagonals;
  if (o.kernel == Kernel::Dia)
    diagonals = diagonals_of(c, ConvertOptions{}.most_diagonals);
  else if (automatic && vector && RealScalar<T>)
    diagonals = diagonals_of(c, kMostBands);
  require(o.kernel != Kernel::Dia || !diagonals.empty() || c.nnz() == 0,
          "sparse.spmm.plan: more than {} diagonals; use another kernel", ConvertOptions{}.most_diagonals);
  const std::int64_t own = csr_bytes(c), bands = band_bytes<T>(c.rows, static_cast<std::int64_t>(diagonals.size()));
  r.alternatives.push_back({Kernel::Csr, own, 1});
  if (automatic && vector) r.alternatives.push_back({Kernel::Sell, own - 8 * c.rows + 8 * c.rows + c.rows, 1});
  if (block > 0) {
    const std::int64_t blocks = c.nnz() / (block * block);
    r.alternatives.push_back({Kernel::Bsr, c.nnz() * static_cast<std::int64_t>(sizeof(T)) + 4 * blocks, 1});
  }
  if (!diagonals.empty())
    r.alternatives.push_back({Kernel::Dia, bands,
                              static_cast<double>(c.nnz()) / static_cast<double>(band_blocks(c.rows) * kBandRows) /
                                  static_cast<double>(diagonals.size())});
  if (automatic) {
    const double average = static_cast<double>(c.nnz()) / static_cast<double>(std::max<std::int64_t>(1, c.rows));
    r.kernel = !vector ? Kernel::Csr : block > 0 ? Kernel::Bsr : average <= kShortRows ? Kernel::Sell : Kernel::Csr;
    // Diagonals read x in order and no indices: taken where they are a tenth fewer bytes than any other form.
    std::int64_t least = own;
    for (const auto& other : r.alternatives) {
      if (other.kernel != Kernel::Dia) least = std::min(least, other.bytes);
    }
    if (!diagonals.empty() && bands <= least - least / 10) r.kernel = Kernel::Dia;
  }
  if (r.kernel == Kernel::Bsr) {
    s.bsr = convert<Bsr<T>>(*s.csr, {.block_rows = block > 0 ? block : 2, .block_columns = block > 0 ? block : 2});
  } else if (r.kernel == Kernel::Dia) {
    s.bands = band_up(c, std::move(diagonals));
  } else if (r.kernel == Kernel::Sell) {
    s.slices = slice_up(c);
  }
  s.far = r.kernel == Kernel::Csr && !vector && scattered(c);
  r.longest_row = longest(c);
  r.nnz = c.nnz();
  if (r.kernel != Kernel::Csr) s.csr.reset();
}

template <Scalar T> void describe(State<T>& s, PlanReport& r, Extents e) {
  r.matrix_bytes = 0;
  switch (r.kernel) {
    case Kernel::Bsr: {
      const PatternRef<std::int32_t> p = host_ref(s.bsr->pattern());
      r.block_rows = s.bsr->block_rows(), r.block_columns = s.bsr->block_columns();
      const std::int64_t size = r.block_rows * r.block_columns;
      r.stored = s.bsr->stored();
      if (r.nnz == 0) r.nnz = r.stored;
      for (std::int64_t i = 0; i < p.rows; ++i)
        r.longest_row = std::max(r.longest_row, (p.offsets[i + 1] - p.offsets[i]) * r.block_columns);
      s.parts = cut(p.rows, [&](std::int64_t u) { return p.offsets[u] * size + u * r.block_rows; });
      r.matrix_bytes = r.stored * static_cast<std::int64_t>(sizeof(T)) + 4 * p.nnz() + 8 * (p.rows + 1);
      break;
    }
    case Kernel::Dia: {
      if (s.bands) {
        r.diagonals = static_cast<std::int64_t>(s.bands->diagonals.size());
        r.stored = s.bands->values.size();
        s.parts = cut(band_blocks(e.rows), [&](std::int64_t u) { return u * kBandRows * (r.diagonals + 1); });
        r.matrix_bytes = band_bytes<T>(e.rows, r.diagonals);
        break;
      }
      r.diagonals = static_cast<std::int64_t>(s.dia->offsets().size());
      r.stored = s.dia->values().size();
      if (r.nnz == 0) r.nnz = s.dia->nnz();
      r.longest_row = std::max(r.longest_row, r.diagonals);
      s.parts = cut(e.rows, [&](std::int64_t u) { return u * (r.diagonals + 1); });
      r.matrix_bytes = r.stored * static_cast<std::int64_t>(sizeof(T));
      break;
    }
    case Kernel::Sell: {
      const auto& offsets = s.slices.offsets;
      s.parts = cut(static_cast<std::int64_t>(offsets.size()) - 1,
                    [&](std::int64_t u) { return offsets[static_cast<std::size_t>(u)] + kSliceHeight * u; });
      r.stored = r.nnz;
      r.matrix_bytes = r.nnz * static_cast<std::int64_t>(sizeof(T) + 4) + 9 * e.rows;
      break;
    }
    default: {
      const auto rows = [&](const auto& a) {
        s.parts = cut(a.rows, [&](std::int64_t u) { return a.offsets[u] + u; });
        r.stored = r.nnz = a.nnz();
        r.longest_row = longest(a);
        r.matrix_bytes = csr_bytes(a);
      };
      if (s.csr64)
        rows(host_ref(*s.csr64));
      else
        rows(host_ref(*s.csr));
    }
  }
  s.work = r.stored + e.rows;
  if (r.alternatives.empty())
    r.alternatives.push_back(
        {r.kernel, r.matrix_bytes, r.stored == 0 ? 1.0 : static_cast<double>(r.nnz) / static_cast<double>(r.stored)});
}

template <Scalar T, class F> void over_parts(const State<T>& s, std::int64_t columns, const F& body) {
  const int threads = loop_threads(s.work * columns >= kWorthThreads);
  const auto count = static_cast<std::int64_t>(s.parts.size()) - 1;
  const auto part = [&](std::int64_t k, int) {
    body(s.parts[static_cast<std::size_t>(k)], s.parts[static_cast<std::size_t>(k) + 1]);
  };
  if (threads <= 1)
    for (std::int64_t k = 0; k < count; ++k) part(k, 0);
  else
    for_pieces(count, threads, part);
}

// One contiguous column x.
template <Scalar T> void vector_product(const SpmmArgs<T>& g, const State<T>& s, const T* x, std::int64_t column) {
  const Output<T> out{g.alpha, g.beta, g.c.data() + column * g.c.column_stride(), g.c.row_stride(), 1};
  const auto csr = [&]<class I>(const CsrRef<T, I>& a) {
    const CsrArgs<T, I> args{a.offsets, a.indices, a.values, {x, 1, 1}, out};
    over_parts(s, 1, [&](std::int64_t begin, std::int64_t end) { csr_vector(args, begin, end); });
  };
  switch (g.plan->report.kernel) {
    case Kernel::Sell: {
      const Slices<T>& p = s.slices;
      const SellArgs<T> args{p.offsets.data(),
                             p.lengths.data(),
                             p.order.data(),
                             g.plan->extents.rows,
                             p.indices.data(),
                             p.values.data(),
                             x,
                             out};
      over_parts(s, 1, [&](std::int64_t begin, std::int64_t end) { sell_vector(args, begin, end); });
      break;
    }
    case Kernel::Bsr: {
      const PatternRef<std::int32_t> p = host_ref(s.bsr->pattern());
      const BsrArgs<T> args{p.offsets,
                            p.indices,
                            s.bsr->values().data(),
                            s.bsr->block_rows(),
                            s.bsr->block_columns(),
                            g.plan->extents.rows,
                            g.plan->extents.columns,
                            x,
                            out};
      over_parts(s, 1, [&](std::int64_t begin, std::int64_t end) { bsr_vector(args, begin, end); });
      break;
    }
    case Kernel::Dia: {
      if (s.bands) {
        const BandArgs<T> args{s.bands->diagonals.data(),
                               static_cast<std::int64_t>(s.bands->diagonals.size()),
                               g.plan->extents.rows,
                               s.bands->values.data(),
                               s.bands->masks.data(),
                               x,
                               out};
        over_parts(s, 1, [&](std::int64_t begin, std::int64_t end) { band_vector(args, begin, end); });
        break;
      }
      const DiaArgs<T> args{s.dia->offsets().data(),
                            static_cast<std::int64_t>(s.dia->offsets().size()),
                            g.plan->extents.rows,
                            g.plan->extents.columns,
                            s.dia->values().data(),
                            x,
                            out};
      over_parts(s, 1, [&](std::int64_t begin, std::int64_t end) { dia_vector(args, begin, end); });
      break;
    }
    default:
      if (s.csr64)
        csr(host_ref(*s.csr64));
      else
        csr(host_ref(*s.csr));
  }
}

// Columns [first, first + in.columns) of C.
template <Scalar T>
void panel_product(const SpmmArgs<T>& g, const State<T>& s, const Input<T>& in, std::int64_t first) {
  const Output<T> out{g.alpha, g.beta, g.c.data() + first * g.c.column_stride(), g.c.row_stride(), g.c.column_stride()};
  const auto csr = [&]<class I>(const CsrRef<T, I>& a) {
    const CsrArgs<T, I> args{a.offsets, a.indices, a.values, in, out, s.far};
    over_parts(s, in.columns, [&](std::int64_t begin, std::int64_t end) { csr_panel(args, begin, end); });
  };
  if (s.csr64)
    csr(host_ref(*s.csr64));
  else
    csr(host_ref(*s.csr));
}

// B's columns [first, first + count) to rows of `count` elements.
template <Scalar T> void pack(const MatrixView<const T>& b, std::int64_t first, std::int64_t count, T* to) {
  for (std::int64_t begin = 0; begin < b.rows(); begin += 64) {  // blocks, so that either side stays in the cache
    const std::int64_t end = std::min(b.rows(), begin + 64);
    for (std::int64_t j = 0; j < count; ++j) {
      const T* from = b.data() + (first + j) * b.column_stride();
      for (std::int64_t i = begin; i < end; ++i) to[i * count + j] = from[i * b.row_stride()];
    }
  }
}

template <Scalar T> void scale_only(const SpmmArgs<T>& g) {
  for (std::int64_t i = 0; i < g.c.rows(); ++i) {
    for (std::int64_t j = 0; j < g.c.columns(); ++j) {
      T& c = g.c.data()[i * g.c.row_stride() + j * g.c.column_stride()];
      c = g.beta == T(0) ? T(0) : g.beta * c;
    }
  }
}

}  // namespace

template <Scalar T> SpmmMade<T> plan_spmm(const Executor&, const SpmmPlanArgs<T>& g) {
  const Extents e = g.a.extents();
  auto state = std::make_shared<State<T>>();
  PlanReport report;
  if (g.options.precision.has_target() || g.options.precision.mode() != Mode::Native)
    fail<NotImplemented>("sparse.spmm.plan: the host multiplies in the elements' own type; modes are for devices");
  if (g.options.kernel > Kernel::Dia)
    fail<NotImplemented>("sparse.spmm.plan: '{}' is a kernel of devices; the host has csr, sell, bsr and dia",
                         name(g.options.kernel));
  std::optional<Permutation> order;
  choose(*state, report, reordered(g.a, g.options.reorder, order), g.options);
  const Extents turned = g.options.op == Op::N ? e : Extents{e.columns, e.rows};
  describe(*state, report, turned);
  return std::make_shared<const detail::SpmmData<T>>(detail::SpmmData<T>{
      g.a, g.options, turned, std::move(report), std::shared_ptr<const void>(state), {}, std::move(order)});
}

template <Scalar T> void spmm(const Executor& executor, const SpmmArgs<T>& g) {
  if (g.c.rows() == 0 || g.c.columns() == 0) return;
  if (g.alpha == T(0)) return scale_only(g);
  const State<T>& s = *static_cast<const State<T>*>(g.plan->state.get());
  const std::int64_t n = g.b.columns();
  const bool by_column = n == 1 || g.plan->report.kernel != Kernel::Csr;
  const bool in_place = by_column ? g.b.row_stride() == 1 || g.b.rows() <= 1 : g.b.column_stride() == 1;
  const std::int64_t width = by_column ? 1 : std::min(n, kWidth);
  std::optional<Buffer> own;
  T* packed = reinterpret_cast<T*>(g.workspace.bytes.data());
  if (!in_place && packed == nullptr) {
    own.emplace(executor, byte_count({g.b.rows(), width}, sizeof(T)));
    packed = static_cast<T*>(own->data());
  }
  if (in_place && !by_column) return panel_product(g, s, {g.b.data(), g.b.row_stride(), n}, 0);
  for (std::int64_t first = 0; first < n; first += width) {
    const std::int64_t count = std::min(width, n - first);
    if (!in_place) pack(g.b, first, count, packed);
    if (by_column)
      vector_product(g, s, in_place ? g.b.data() + first * g.b.column_stride() : packed, first);
    else
      panel_product(g, s, {packed, count, count}, first);
  }
}

#define TRN_HOST_SPMM(T)                                                   \
  template SpmmMade<T> plan_spmm(const Executor&, const SpmmPlanArgs<T>&); \
  template void spmm(const Executor&, const SpmmArgs<T>&);
TRN_SPARSE_SCALARS(TRN_HOST_SPMM)
#undef TRN_HOST_SPMM

}  // namespace trn::sparse::host
