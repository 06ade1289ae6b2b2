// The generator of `trnsci fuzz tile`: reductions, scans, searches, selections, statistics, microscaling and registers.
// A machine that lacks an instruction takes another step instead.
#include "fuzz_tile_generator.hpp"

namespace trn::tools::fuzz::programs {

void Generator::keep(const Access& a) {
  const Access d = fresh(a.partitions, a.free_size(), F32);
  b_.tensor_copy(d, a);
  wrote(d);
}

Access Generator::column(std::int64_t partitions, double value) {
  const Access c = fresh(partitions, 1, F32);
  b_.memset(c, value);
  wrote(c);
  return c;
}

ScalarOrTile Generator::operand(const Access& like) {
  const double value = r_.uniform(-2, 2);
  if (r_.chance(2)) return value;
  return column(like.partitions, value);
}

Access Generator::predicate(const Access& a, DType dtype) {
  const Access p = fresh(a.partitions, a.free_size(), dtype);
  b_.tensor_scalar(p, a, AluOp::Greater, 0.0);
  return p;
}

void Generator::fused() {
  const Access a = any(), c = any(&a), d = target(a);
  b_.scalar_tensor_tensor(d, a, r_.pick({AluOp::Multiply, AluOp::Subtract, AluOp::Maximum}), operand(a),
                          r_.pick({AluOp::Add, AluOp::Subtract, AluOp::Multiply}), c,
                          {.reverse0 = r_.chance(2), .reverse1 = r_.chance(2)});
  wrote(d);
}

void Generator::reduce() {
  const Access a = any();
  const AluOp op = r_.pick({AluOp::Add, AluOp::Maximum, AluOp::Minimum, AluOp::Multiply});
  const bool negate = r_.chance(3);
  if (r_.chance(2)) {
    const Access d = fresh(a.partitions, 1, F32);
    b_.tensor_reduce(d, op, a, 1, negate);
    return wrote(d);
  }
  // Two rows of each partition, reduced apart.
  const Access two = b_.sbuf("two", a.partitions, {2, a.free_size()}, a.dtype), d = fresh(a.partitions, 2, F32);
  b_.tensor_copy(two(all, ds(0, 1)), a);
  b_.tensor_copy(two(all, ds(1, 1)), any(&a));
  b_.tensor_reduce(d, op, two, 1, negate);
  wrote(d);
}

void Generator::reduce_partitions() {
  const Access a = any(), d = fresh(1, a.free_size(), F32);
  b_.tensor_partition_reduce(d, r_.pick({AluOp::Add, AluOp::Maximum, AluOp::Average}), a);
  wrote(d);
}

void Generator::scan() {
  const Access a = any(), c = any(&a), d = target(a);
  b_.tensor_tensor_scan(d, a, c, operand(a), r_.pick({AluOp::Multiply, AluOp::Add, AluOp::Minimum}),
                        r_.pick({AluOp::Add, AluOp::Subtract, AluOp::Maximum}),
                        {.reverse0 = r_.chance(2), .reverse1 = r_.chance(2)});
  wrote(d);
}

// Through the Vector Engine's registers: one instruction, a chain of two, or running values.
void Generator::accumulate() {
  const Access a = any(), d = target(a);
  const AluOp op0 = r_.pick({AluOp::Add, AluOp::Multiply, AluOp::Minimum}),
              op1 = r_.pick({AluOp::Add, AluOp::Maximum, AluOp::Minimum, AluOp::Multiply});
  if (r_.chance(2)) {
    CumulativeOptions options;
    if (r_.chance(2)) options = {.reduce_cmd = ReduceCmd::LoadReduce, .imm1 = operand(a)};
    b_.tensor_scalar_cumulative(d, a, op0, operand(a), op1, options);
    return wrote(d);
  }
  const Access res = fresh(a.partitions, 1, F32);
  ReduceOptions first;
  if (r_.chance(3)) first = {.reduce_cmd = ReduceCmd::LoadReduce, .reduce_init = operand(a)};
  if (r_.chance(2)) {
    const Access other = target(a);
    b_.tensor_scalar_reduce(other, any(&a), op0, r_.uniform(-2, 2), op1, first);
    wrote(other);
    first = {.reduce_cmd = ReduceCmd::Reduce};
  }
  first.reduce_res = res;
  first.negate = r_.chance(3);
  b_.tensor_scalar_reduce(d, a, op0, r_.uniform(-2, 2), op1, first);
  wrote(d);
  wrote(res);
}

void Generator::select() {
  const Access a = any(), c = any(&a), d = target(a);
  const Access p = predicate(c, r_.pick({DType::UInt8, DType::UInt16, DType::Int16}));
  SelectOptions options{.reverse_pred = r_.chance(2)};
  if (r_.chance(2)) options.reduce_res = fresh(a.partitions, 1, F32);
  b_.select_reduce(d, p, a, operand(a), options);
  wrote(d);
  if (options.reduce_res.present()) wrote(options.reduce_res);
}

void Generator::select_range() {
  if (!m_.range_select) return select();
  const Access a = any(), d = fresh(a.partitions, a.free_size(), F32), res = fresh(a.partitions, 1, F32);
  const Access low = column(a.partitions, static_cast<double>(r_.below(4))),
               high = column(a.partitions, static_cast<double>(4 + r_.below(16)));
  b_.range_select(d, a, r_.pick({AluOp::GreaterEqual, AluOp::Greater}), low, r_.pick({AluOp::Less, AluOp::LessEqual}),
                  high, {.reduce_res = res, .range_start = r_.below(3)});
  wrote(d);
  wrote(res);
}

void Generator::select_affine() {
  const Access a = any(), d = target(a);
  b_.affine_select(d, {{1 - r_.below(3), a.free_size()}}, r_.below(9) - 4, r_.below(3) - 1,
                   r_.pick({AluOp::GreaterEqual, AluOp::Less, AluOp::Equal, AluOp::NotEqual}), a, r_.uniform(-2, 2));
  wrote(d);
}

void Generator::copy_where() {
  const Access a = any(), d = fresh(a.partitions, a.free_size(), a.dtype);
  const Access p = predicate(any(&a), r_.pick({DType::UInt8, DType::UInt16, U32}));
  b_.memset(d, 0.25);
  const ScalarOrTile from = r_.chance(3) ? ScalarOrTile(1.5) : ScalarOrTile(a);
  b_.tensor_copy_predicated(d, from, p, r_.chance(2));
  wrote(d);
}

// The eight largest, where they are, and the rest without them.
void Generator::search() {
  const std::int64_t p = r_.pick<std::int64_t>({1, 16, 128}), n = m_.search_free_min + r_.below(16);
  const Access a = fresh(p, n, r_.pick({F32, F32, BF16})), vals = fresh(p, 8, F32), d = fresh(p, n, a.dtype);
  b_.dma_copy(a, source(p, n));
  wrote(a);
  b_.max8(vals, a);
  wrote(vals);
  const Access places = fresh(p, 8, r_.pick({DType::UInt16, U32}));
  b_.nc_find_index8(places, a, vals);
  keep(places);
  const Access taken = r_.chance(2) ? fresh(p, 8, r_.pick({DType::UInt16, U32})) : Access{};
  b_.nc_match_replace8(d, a, vals, -3.0, taken);
  wrote(d);
  if (taken.present()) keep(taken);
}

void Generator::exponential() {
  if (!m_.vector_exponential) return function();
  const Access a = any(), d = target(a);
  ExponentialOptions options{.max_value = operand(a)};
  if (r_.chance(2)) options.reduce_res = fresh(a.partitions, 1, F32);
  b_.exponential(d, a, options);
  wrote(d);
  if (options.reduce_res.present()) wrote(options.reduce_res);
}

void Generator::statistics() {
  const Access a = any(), six = fresh(a.partitions, 6, F32), two = fresh(a.partitions, 2, F32);
  b_.bn_stats(six, a);
  b_.bn_aggr(two, six);
  wrote(six);
  wrote(two);
}

void Generator::reciprocal() {
  const Access a = any(), d = target(a);
  b_.reciprocal(d, a);
  wrote(d);
}

void Generator::gather_by_core() {
  const Access a = any();
  const std::int64_t lanes = m_.partitions / m_.gpsimd_cores, size = a.free_size();
  if (a.partitions % lanes != 0) return gather();
  const std::int64_t columns = 1 + r_.below(2), n = 1 + r_.below(columns * lanes);
  const Access list = fresh(a.partitions, columns, DType::UInt16), d = fresh(a.partitions, n, a.dtype);
  b_.iota(list, {{size >= columns ? 1 : 0, columns}}, size >= columns ? r_.below(size - columns + 1) : 0, 0);
  b_.local_gather(d, a, list);
  wrote(d);
}

void Generator::nonzeros() {
  if (!m_.nonzero_with_count) return gather();
  const std::int64_t n = 1 + r_.below(24);
  const Access a = fresh(1, n, F32), d = fresh(1, n + 1, I32);
  b_.dma_copy(a, source(1, n));
  b_.tensor_scalar(a, a, AluOp::Greater, r_.uniform(-1, 1));
  wrote(a);
  b_.nonzero_with_count(d, a, r_.below(5), r_.below(3) - 1);
  keep(d);
}

void Generator::dma_transpose() {
  if (r_.chance(2)) {
    const Access a = any();
    if (a.partitions > 1 && a.free_size() <= m_.partitions) {
      const Access d = fresh(a.free_size(), a.partitions, a.dtype);
      b_.dma_transpose(d, a);
      return wrote(d);
    }
  }
  const std::int64_t p = 2 + r_.below(30), n = 2 + r_.below(30);
  const Access d = fresh(n, p, F32);
  b_.dma_transpose(d, source(p, n));
  wrote(d);
}

// Quantized, and multiplied with itself.
void Generator::microscaling() {
  if (!m_.microscaling) return matmul();
  const std::int64_t p = r_.pick<std::int64_t>({32, 64, 128}), m = 2 * (1 + r_.below(4));
  const MxFormat format = r_.pick({MxFormat::Float8E4M3FN, MxFormat::Float8E5M2});
  const Access a = fresh(p, 4 * m, BF16), q = fresh(p, m, U32), scale = fresh(p, m, DType::UInt8),
               acc = b_.psum("acc", m, {m}, F32);
  b_.dma_copy(a, source(p, 4 * m));
  wrote(a);
  b_.quantize_mx(q, a, scale, format);
  b_.nc_matmul_mx(acc, q, q, scale, scale, {.stationary = format, .moving = format});
  keep(acc);
}

// tile::reorder writes static loops out, and then every iteration has registers of its own.
bool Generator::take_registers(std::int64_t count) {
  for (const Open& loop : loops_) count *= is_dynamic(loop.kind) ? 1 : loop.trip;
  if (registers_ + count > m_.registers) return false;
  registers_ += count;
  return true;
}

void Generator::registers() {
  if (!take_registers(2)) return scalar();
  const Access from = b_.register_alloc("a"), to = b_.register_alloc("b"), v = fresh(1, 1, I32);
  b_.register_move(from, r_.below(1000) - 500);
  b_.register_move(to, from);
  b_.register_store(v, r_.chance(2) ? from : to);
  keep(v);
}

}  // namespace trn::tools::fuzz::programs
