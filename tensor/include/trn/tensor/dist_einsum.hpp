// einsum of distributed arrays, collective over their group; host and devices. CTF: Tensor contraction; cuTENSORMp:
// cutensorMpContract.
//
//   einsum<double>("abij,ijc->abc", {a, b}, d);
//
// The work is cut into parts along one label of the result (Output), one label that is summed over (Reduce), or both
// (Mixed); each part is an einsum of one rank on slices of the operands, which come to it in one exchange an operand.
// Parts of a sum travel to whoever has that place of D and are added there in their order. How the work is cut depends
// on the expression, the extents and the options, never on the ranks, so the results have the same bits for every
// number of ranks and every distribution, on executors of one kind.
//
// Automatic takes the cut that moves the fewest elements. Operands without the label that is cut go to every rank that
// works along it. No more ranks work than there are parts.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

#include <trn/comm/matrix.hpp>
#include <trn/core/precision.hpp>
#include <trn/tensor/types.hpp>

namespace trn::tensor {

enum class Sharding : std::uint8_t { Automatic, Output, Reduce, Mixed };
[[nodiscard]] std::string_view name(Sharding sharding);

struct DistEinsumOptions {
  Precision precision = {};
  Sharding sharding = Sharding::Automatic;
  std::int64_t parts = 16;  // at most, 1 to 4096
};

struct DistEinsumReport {
  Sharding sharding = Sharding::Output;  // what was done
  std::int64_t output_parts = 1, sum_parts = 1;
  std::int64_t ranks = 1;  // that worked
  Accuracy accuracy;       // plan.hpp's, with the roundings of the sum of parts; the same on every rank
};

// D = einsum(...) for T float, double and complex ones. Operands and D are on one group and executors of one kind, each
// with any distribution; a number is an array with a label of extent 1. Different arguments on the ranks, shapes that
// do not fit: InvalidArgument on all, D as it was.
template <Element T>
DistEinsumReport einsum(std::string_view text,
                        std::initializer_list<std::reference_wrapper<const dist::Array<T>>> operands,
                        const dist::Array<T>& d, const DistEinsumOptions& options = {});

}  // namespace trn::tensor
