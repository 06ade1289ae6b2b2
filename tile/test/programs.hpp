// Programs that several tests share: a small one for listings, and one that uses every opcode and every attribute the
// machine has. Both are legal, read nothing uninitialised, write their outputs completely and give finite numbers for
// finite inputs.
#pragma once

#include <trn/tile/builder.hpp>

namespace trn::tile::test {

// y = 2 x, 128 rows at a time.
inline Program scale_program(const Machine& machine) {
  Builder b("scale", machine);
  const std::int64_t p = machine.partitions;
  const Access x = b.input("x", DType::Float32, {8 * p, 512});
  const Access y = b.output("y", DType::Float32, {8 * p, 512});
  b.parallel("i", 8, [&](const Affine& i) {
    const Access t = b.sbuf("t", p, {512}, DType::Float32, 2);
    b.dma_copy(t, x(ds(i * p, p), all));
    b.tensor_scalar(t, t, AluOp::Multiply, 2.0, {.engine = Engine::Vector});
    b.dma_copy(y(ds(i * p, p), all), t);
  });
  return b.finish();
}

// Accumulates a^T x over two blocks of rows; returns float32 (P, 256) in SBUF, squashed to values between 0.4 and 0.7.
inline Access matmul_section(Builder& b, const Access& a, const Access& x) {
  const std::int64_t p = b.machine().partitions;
  const DgeMode dge = b.machine().hardware_dge ? DgeMode::Hardware : DgeMode::Static;
  const Access acc = b.psum("acc", p, {256});
  b.sequential("k", 2, [&](const Affine& k) {
    const Access stationary = b.sbuf("stationary", p, {p}, DType::BFloat16, 2);
    const Access moving = b.sbuf("moving", p, {256}, DType::BFloat16, 2);
    const DmaIssuer issuer = dge == DgeMode::Hardware ? DmaIssuer::Sync : DmaIssuer::Default;
    b.dma_copy(stationary, a(ds(k * p, p), all), {.dge = dge, .ring = 0, .issuer = issuer});
    b.dma_copy(moving, x(ds(k * p, p), all), {.dge = DgeMode::Static});
    b.nc_matmul(acc, stationary, moving, {.accumulate = k});
  });
  const Access product = b.sbuf("product", p, {256}, DType::Float32);
  const Access total = b.sbuf("total", p, {1}, DType::Float32);
  const Access bias = b.sbuf("bias", p, {1}, DType::Float32);
  const Access scale = b.sbuf("scale", p, {1}, DType::Float32);
  b.memset(bias, 0.25, Engine::Vector);
  b.memset(scale, 0.5, Engine::GpSimd);
  b.tensor_copy(product, acc, Engine::Vector);
  b.activation(product, ActFunction::Tanh, product, {.bias = bias, .scale = scale, .reduce_res = total});
  b.activation(product(all, ds(0, 128)), ActFunction::Copy, product(all, ds(0, 128)),
               {.reduce_res = total, .reduce_cmd = ReduceCmd::Reduce});
  b.activation(product, ActFunction::Sigmoid, product,
               {.bias = b.machine().activation_bias_immediate ? 0.125 : 0.0, .scale = 0.5});
  return product;
}

// The Vector Engine's instructions over `data`, a (P, 256) float32 tile between 0 and 1; returns a tile like it.
inline Access vector_section(Builder& b, const Access& data) {
  const std::int64_t p = b.machine().partitions;
  const Access out = b.sbuf("out", p, {256}, DType::Float32);
  const Access peak = b.sbuf("peak", p, {4}, DType::Float32);
  const Access column = peak(all, ds(0, 1));
  const Access mask = b.sbuf("mask", p, {256}, DType::UInt8);
  b.tensor_reduce(peak, AluOp::Maximum, data.split(0, 64), 1, true);
  b.tensor_scalar(out, data, AluOp::Subtract, 1.0,
                  {.op1 = AluOp::Multiply, .operand1 = column, .reverse0 = true, .reverse1 = true});
  b.tensor_scalar(out, out, AluOp::Multiply, column, {.op1 = AluOp::Add, .operand1 = 2.0, .engine = Engine::Vector});
  b.tensor_tensor(out, out, data, AluOp::Add);
  b.scalar_tensor_tensor(out, out, AluOp::Multiply, 0.5, AluOp::Subtract, data);
  b.scalar_tensor_tensor(out, out, AluOp::Subtract, 0.5, AluOp::Subtract, data, {.reverse0 = true, .reverse1 = true});
  b.tensor_tensor_scan(out, data, out, 0.125, AluOp::Multiply, AluOp::Add);
  b.tensor_tensor_scan(out, data, out, 0.25, AluOp::Minimum, AluOp::Subtract, {.reverse0 = true, .reverse1 = true});
  b.tensor_scalar(mask, data, AluOp::GreaterEqual, 0.5);
  b.tensor_copy_predicated(out, data, mask, true);
  b.tensor_copy_predicated(out(all, ds(0, 64)), 0.75, mask(all, ds(64, 64)));
  const Access bits = out.view(DType::UInt32);
  b.tensor_scalar(bits, bits, AluOp::BitwiseAnd, 4294901760.0);
  b.tensor_tensor(bits, bits, bits, AluOp::BitwiseOr, Engine::Vector);
  const Access inverse = b.sbuf("inverse", p, {256}, DType::Float32);
  b.reciprocal(inverse, data);
  b.tensor_tensor(out, out, inverse, AluOp::Subtract, Engine::Vector);
  if (b.machine().scalar_tensor_copy) {
    b.tensor_scalar(out, out, AluOp::Multiply, 0.5, {.op1 = AluOp::Add, .operand1 = 1.0, .engine = Engine::Scalar});
    b.tensor_copy(out, out, Engine::Scalar);
  }
  return out;
}

// The instructions that share the Vector Engine's registers, and the searches, over `data`, a (P, 256) float32 tile of
// finite numbers; returns a (P, 64) float32 tile of them.
inline Access reduce_section(Builder& b, const Access& data) {
  const std::int64_t p = b.machine().partitions;
  const Access part = data(all, ds(0, 64)), out = b.sbuf("reduced", p, {64}, DType::Float32);
  const Access low = b.sbuf("low", p, {1}, DType::Float32), high = b.sbuf("high", p, {1}, DType::Float32);
  const Access mask = b.sbuf("odd", p, {64}, DType::UInt8);
  b.tensor_scalar_reduce(out, part, AluOp::Multiply, 0.5, AluOp::Add);
  b.tensor_scalar_reduce(out, part, AluOp::Add, 0.25, AluOp::Add,
                         {.reduce_res = low, .reduce_cmd = ReduceCmd::Reduce, .negate = true});
  b.tensor_scalar_reduce(out, part, AluOp::Add, low, AluOp::Minimum,
                         {.reduce_res = high, .reduce_cmd = ReduceCmd::LoadReduce, .reduce_init = 8.0});
  b.tensor_scalar_cumulative(out, out, AluOp::Multiply, 0.125, AluOp::Add,
                             {.reduce_cmd = ReduceCmd::LoadReduce, .imm1 = 0.5});
  b.iota(mask, {{1, 64}});
  b.tensor_scalar(mask, mask, AluOp::BitwiseAnd, 1.0);
  b.select_reduce(out, mask, out, 0.75, {.reduce_res = high, .reverse_pred = true});
  if (b.machine().range_select) {
    b.memset(low, 5.0);
    b.range_select(out, out, AluOp::Greater, low, AluOp::LessEqual, high,
                   {.reduce_res = high, .reduce_cmd = ReduceCmd::Reduce, .range_start = 3});
    b.tensor_scalar(out, out, AluOp::Maximum, -1.0, {.op1 = AluOp::Add, .operand1 = high});
  }
  const Access top = b.sbuf("top", p, {8}, DType::Float32);
  const Access places = b.sbuf("places", p, {8}, DType::UInt32), again = b.sbuf("again", p, {8}, DType::UInt16);
  b.max8(top, out);
  b.nc_find_index8(places, out, top);
  b.nc_match_replace8(out, out, top, -0.5, again);
  b.tensor_tensor(top, places, again, AluOp::Add, Engine::Vector);
  b.tensor_tensor(out(all, ds(0, 8)), out(all, ds(0, 8)), top, AluOp::Add);
  return out;
}

// The GpSimd instructions; returns a (P, 64) float32 tile of positive numbers.
inline Access gpsimd_section(Builder& b) {
  const std::int64_t p = b.machine().partitions;
  const Access ramp = b.sbuf("ramp", p, {64}, DType::Float32);
  const Access index = b.sbuf("index", p, {2}, DType::UInt16);
  const Access gathered = b.sbuf("gathered", p, {64}, DType::Float32);
  const Access sum = b.sbuf("sum", 1, {64}, DType::Float32);
  b.iota(ramp, {{1, 64}}, 1, 2);
  b.affine_select(ramp, {{-1, 64}}, 1, 1, AluOp::GreaterEqual, ramp, 0.5);
  b.iota(index, {{5, 2}}, 1, 0);
  b.local_gather(gathered, ramp, index, 2);  // 2 x 16 indices of 2 elements
  b.tensor_tensor(gathered, ramp, gathered, AluOp::Maximum, Engine::GpSimd);
  b.tensor_scalar(gathered, gathered, AluOp::Rsqrt, 0.0, {.engine = Engine::GpSimd});
  b.tensor_tensor(gathered, ramp, gathered, AluOp::Power);
  b.tensor_partition_reduce(sum, AluOp::Add, gathered);
  b.tensor_copy(gathered(ds(0, 1), all), sum, Engine::GpSimd);
  if (b.machine().nonzero_with_count) {
    const Access nonzeros = b.sbuf("nonzeros", p, {64}, DType::Int32);
    b.memset(nonzeros, 1.0);
    b.nonzero_with_count(nonzeros, ramp(all, ds(0, 63)), 2, 7);
    b.tensor_tensor(gathered, gathered, nonzeros, AluOp::Add, Engine::Vector);
  }
  return gathered;
}

// Transposes on three engines and, where there is one, the double-row matmul. `a` is bfloat16 HBM of P columns.
inline void transpose_section(Builder& b, const Access& a, const Access& out) {
  const std::int64_t p = b.machine().partitions, q = p / 4;
  const Access wide = b.sbuf("wide", p, {q}, DType::BFloat16);
  const Access small = b.sbuf("small", q, {q}, DType::BFloat16);
  const Access turned = b.psum("turned", q, {p}, DType::BFloat16);
  b.dma_transpose(wide, a(ds(0, q), all), {.dge = DgeMode::Static, .ring = 2});
  b.nc_transpose(turned, wide);
  b.nc_transpose(small, wide(ds(0, q), all), Engine::Vector);
  const Access result = b.sbuf("result", q, {p}, DType::Float32);
  b.tensor_copy(result, turned);
  b.tensor_copy(result(all, ds(0, q)), small);
  if (b.machine().pass_through_transpose) {
    const Access identity = b.sbuf("identity", p, {p}, DType::BFloat16);
    b.memset(identity, 1.0);
    b.affine_select(identity, {{-1, p}}, 0, 1, AluOp::Equal, identity, 0.0);
    b.nc_matmul(turned, wide, identity, {.is_transpose = true});
    b.tensor_copy(result, turned);
  }
  if (b.machine().double_row) {
    const Access stationary = b.sbuf("stationary8", p, {2, q}, DType::Float8E4M3);
    const Access moving = b.sbuf("moving8", p, {2, p}, DType::Float8E4M3);
    const Access sums = b.psum("sums", q, {p});
    b.memset(stationary, 1.0);
    b.memset(moving, 0.5);
    b.nc_matmul(sums, stationary, moving, {.perf_mode = MatmulMode::DoubleRow});
    b.tensor_tensor(result, result, sums, AluOp::Add);
  }
  b.dma_copy(out, result);
}

// Microscaling operands out of `source`, a (P, 4 P) bfloat16 tile: quantized in both formats, multiplied in either half
// of the array. Returns the sums, (P, P) float32 in PSUM.
inline Access microscaling_section(Builder& b, const Access& source) {
  const std::int64_t p = b.machine().partitions, h = p / 2;
  const Access x = b.sbuf("mx_x", p, {p}, DType::UInt32), y = b.sbuf("mx_y", p, {p}, DType::UInt32);
  const Access four = b.sbuf("mx_four", p, {p}, DType::UInt16);
  const Access scales = b.sbuf("mx_scales", p, {p}, DType::UInt8);  // of x, and four partitions further on of y
  const Access sums = b.psum("mx_sums", p, {p});
  b.memset(four, 0x4321);  // 0.5, 1, 1.5, 2
  b.sequential("mx", 2, [&](const Affine& i) {
    const Access s = scales(ds(i * h, h), all), t = scales(ds(i * h + 4, h - 4), all), rows = source(ds(i * h, h), all);
    const MxMatmulOptions part{.moving = MxFormat::Float8E5M2, .accumulate = i, .tile_row = i * h, .tile_rows = h};
    b.quantize_mx(x(ds(i * h, h), all), rows, s);
    b.quantize_mx(y(ds(i * h, h), all), rows, t, MxFormat::Float8E5M2);
    b.nc_matmul_mx(sums, x(ds(i * h, h), all), y(ds(i * h, h), all), s, t, part);
  });
  b.nc_matmul_mx(sums, four, x, scales, scales, {.stationary = MxFormat::Float4E2M1FN, .accumulate = 1});
  return sums;
}

// The parts of the array, statistics, and what only trn3 has. `a` is bfloat16 HBM of P columns, out (P, P) float32.
inline void array_section(Builder& b, const Access& a, const Access& out) {
  const std::int64_t p = b.machine().partitions, h = p / 2;
  const Access tile = b.sbuf("halves", p, {p}, DType::BFloat16), result = b.sbuf("halves_out", p, {p}, DType::Float32);
  const Access parts = b.psum("parts", p, {p});
  const Access stats = b.sbuf("stats", p, {12}, DType::Float32), mean = b.sbuf("mean", p, {2}, DType::Float32);
  b.dma_copy(tile, a(ds(0, p), all));
  b.parallel("quarter", 2, [&](const Affine& i) {
    const Access rows = tile(ds(i * h, h), all);
    b.nc_matmul(parts(ds(i * h, h), all), rows(all, ds(0, h)), rows,
                {.tile = {.row = i * h, .column = i * h, .rows = h, .columns = h}});
  });
  b.tensor_copy(result, parts, Engine::Vector);
  b.bn_stats(stats(all, ds(0, 6)), result);
  b.bn_stats(stats(all, ds(6, 6)), tile);
  b.bn_aggr(mean, stats);
  b.tensor_scalar(result, result, AluOp::Subtract, mean(all, ds(0, 1)),
                  {.op1 = AluOp::Multiply, .operand1 = mean(all, ds(1, 1)), .engine = Engine::Vector});
  if (b.machine().vector_exponential) {
    const Access total = b.sbuf("exp_total", p, {1}, DType::Float32), power = b.sbuf("power", p, {p}, DType::BFloat16);
    b.exponential(power, tile, {.max_value = 0.5, .reduce_cmd = ReduceCmd::LoadReduce, .reduce_init = 0.25});
    b.exponential(power, tile,
                  {.max_value = mean(all, ds(0, 1)), .reduce_res = total, .reduce_cmd = ReduceCmd::Reduce});
    b.tensor_scalar(result, result, AluOp::Add, total, {.engine = Engine::Vector});
    b.tensor_tensor(result, result, power, AluOp::Add, Engine::Vector);
  }
  if (b.machine().microscaling) {
    const Access wide = b.sbuf("mx_source", p, {4 * p}, DType::BFloat16);
    b.tensor_copy(wide.split(0, p), tile.broadcast(0, 4), Engine::Vector);
    b.tensor_tensor(result, result, microscaling_section(b, wide), AluOp::Add, Engine::Vector);
  }
  b.dma_copy(out, result);
}

// Opcodes that came with a later generation.
inline std::vector<Opcode> missing_opcodes(const Machine& machine) {
  std::vector<Opcode> missing;
  if (!machine.range_select) missing.push_back(Opcode::RangeSelect);
  if (!machine.nonzero_with_count) missing.push_back(Opcode::NonzeroWithCount);
  if (!machine.vector_exponential) missing.push_back(Opcode::Exponential);
  if (!machine.microscaling) missing.insert(missing.end(), {Opcode::NcMatmulMx, Opcode::QuantizeMx});
  return missing;
}

// Adding DMA, gathers and shuffles over a (P, 64) float32 tile, in place.
inline void gather_section(Builder& b, const Access& data) {
  const std::int64_t p = b.machine().partitions;
  const Access list = b.sbuf("list", p, {64}, DType::UInt32), turned = b.sbuf("turned_row", p, {64}, DType::Float32);
  b.iota(list, {{-1, 64}}, 63, 0);
  b.nc_n_gather(turned, data, list);
  std::vector<std::int64_t> mask(static_cast<std::size_t>(p / 4));
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = i % 4 == 3 ? 255 : static_cast<std::int64_t>(i ^ 1);
  b.nc_stream_shuffle(turned, data, mask);
  b.dma_compute(data, {data, turned, turned}, {.dge = DgeMode::Static, .ring = 2});
  if (!b.machine().indirect_dma) return;
  const Access row = b.sbuf("sum_row", p, {1}, DType::UInt32);
  const Access sums = b.scratch("sums_by_row", DType::Float32, {p, 64});
  b.iota(row, {{0, 1}}, 1, 1);  // the last one leaves the tensor
  b.dma_copy(sums, turned);
  b.dma_scatter_add(sums, data, row, {.oob = OobMode::Skip});
  b.iota(row, {{0, 1}}, p - 1, -1);
  b.dma_gather_add(data, sums, row);
}

// Registers and loops of the device: copies four blocks of `table` to `w`, then adds blocks 2, 1 and 0 once more.
inline void register_section(Builder& b, const Access& table, const Access& w, const Access& seen) {
  const std::int64_t block = b.machine().partitions / 4;
  const Access count = b.sbuf("count", 1, {1}, DType::Int32), one = b.sbuf("one", 1, {1}, DType::Int32);
  const Access n = b.register_alloc("n"), same = b.register_alloc("same");
  b.memset(count, 4);
  b.memset(one, 1);
  b.register_load(n, count);
  b.register_move(same, 7);
  b.register_store(seen(ds(0, 1)), same);
  b.register_move(same, n);
  b.register_store(seen(ds(1, 1)), same);
  b.fori_loop("block", n, 4, [&](const Affine& i) {
    const Access t = b.sbuf("block_tile", block, {64}, DType::Float32);
    b.dma_copy(t, table(ds(i * block, block), all));
    b.dma_copy(w(ds(i * block, block), all), t);
  });
  b.memset(count, 3);
  const Access more = b.register_alloc("more");
  b.register_load(more, count);
  b.while_loop("again", more, 5, [&] {
    const Access t = b.sbuf("more_tile", block, {64}, DType::Float32);
    const Access u = b.sbuf("more_sum", block, {64}, DType::Float32);
    const Access at = b.register_alloc("at");
    b.tensor_tensor(count, count, one, AluOp::Subtract, Engine::GpSimd);
    b.register_load(at, count);
    b.dma_copy_at(t, w(ds(0, block), all), {.src = {count, block * 64, 3}});
    b.dma_copy_at(u, table(ds(0, block), all), {.src = {at, block * 64, 3}});
    b.tensor_tensor(t, t, u, AluOp::Add, Engine::Vector);
    b.dma_copy_at(w(ds(0, block), all), t, {.dst = {at, block * 64, 3}});
    b.register_load(more, count);
  });
}

// Every opcode, and every attribute that this machine accepts, at least once.
inline Program every_opcode(const Machine& machine) {
  Builder b("every_opcode", machine);
  const std::int64_t p = machine.partitions, q = p / 4;
  const Access a = b.input("a", DType::BFloat16, {2 * p, p});
  const Access x = b.input("x", DType::BFloat16, {2 * p, 256});
  const Access table = b.input("table", DType::Float32, {p, 64});
  const Access y = b.output("y", DType::Float32, {p, 256});
  const Access z = b.output("z", DType::Float32, {p, 64});
  const Access t = b.output("t", DType::Float32, {q, p});
  const Access r = b.output("r", DType::Float32, {p, 64});
  const Access u = b.output("u", DType::Float32, {p, p});
  const Access blocks = b.input("blocks", DType::Float32, {4 * q, 64});
  const Access w = b.output("w", DType::Float32, {4 * q, 64}), seen = b.output("seen", DType::Int32, {2});
  const Access spare = b.scratch("spare", DType::Float32, {p, 256});

  const Access values = vector_section(b, matmul_section(b, a, x));
  b.dma_copy(spare, values);
  b.dma_copy(r, reduce_section(b, values));
  b.parallel("half", 2, [&](const Affine& half) {
    const Access part = b.sbuf("part", p, {128}, DType::Float32, 2);
    b.dma_copy(part, spare(all, ds(half * 128, 128)));
    b.dma_copy(y(all, ds(half * 128, 128)), part);
  });

  const Access row = b.sbuf("row", p, {1}, DType::UInt32);
  const Access picked = b.sbuf("picked", p, {64}, DType::Float32);
  b.iota(row, {{0, 1}}, p - 1, -1);  // the last row first
  if (machine.indirect_dma)
    b.dma_gather(picked, table, row);
  else
    b.dma_copy(picked, table);
  b.tensor_tensor(picked, picked, gpsimd_section(b), AluOp::Add);
  gather_section(b, picked);
  if (machine.indirect_dma)
    b.dma_scatter(z, picked, row, {.oob = OobMode::Skip});
  else
    b.dma_copy(z, picked);

  transpose_section(b, a, t);
  array_section(b, a, u);
  register_section(b, blocks, w, seen);
  return b.finish();
}

}  // namespace trn::tile::test
