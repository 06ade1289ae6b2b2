// DistPlan: a Fourier transform of one to three dimensions whose array lies on the ranks of a group. cuFFTMp:
// cufftMpAttachComm, cufftMpMakePlan*; FFTW: fftw_mpi_plan_dft_*.
//
//   y[k] = s * sum over j of x[j] exp(-+ 2 pi i (j1 k1/n1 + ...)) as in plan.hpp, x and y of type dist::Array
//
// Whole lines are transformed on one rank, in a way that depends on their length alone, so that the results have the
// same bits for every number of ranks, distribution and transport. Between the dimensions the array is exchanged:
//
//   2-D, 3-D   slabs while there are at least as many planes as ranks: one exchange; else pencils: two (a 2-D array has
//              lines for no more ranks)
//   1-D        n = n1 n2, n1 the largest divisor of n up to sqrt(n) (a prime n is one line, and one rank computes):
//              columns, twiddles, rows. Three exchanges, or two where the transformed side may be in transposed order
//
// Forward transforms take the last dimension first and end with the first one whole, inverse ones go back:
// input_distribution() and output_distribution() of a plan that was made without any are the ends that need no exchange
// more. Any others cost one for each end. Real transforms keep n/2 + 1 points of the last dimension, as plan.hpp says;
// in one dimension they cost as much as complex ones.
//
// A plan is made once, collectively, and owns its workspace: one execution at a time. Executing is collective. Arrays
// that are not the plan's on one rank are refused with InvalidArgument on all, before anything is written.
//
// Accuracy: as of Plan, of the whole array.
#pragma once

#include <memory>

#include <trn/comm/matrix.hpp>
#include <trn/fft/types.hpp>

namespace trn::fft {

// Where y(k) of a 1-D transform lies: at k, or at k1 n2 + k2 for k = k1 + n1 k2, the transformed side of a forward or
// of an inverse transform: the output of the first, the input of the second.
enum class SpectrumOrder : std::uint8_t { Natural, Transposed };
enum class Decomposition : std::uint8_t { Fewest, Slabs, Pencils };

struct DistDescription {
  Kind kind = Kind::ComplexToComplex;
  Direction direction = Direction::Forward;
  Shape lengths{};  // one to three, of the real side where there is one
  Scale scale = Scale::None;
  Precision precision = {};
  SpectrumOrder order = SpectrumOrder::Natural;         // Transposed: 1-D complex transforms only
  Decomposition decomposition = Decomposition::Fewest;  // of exchanges; bits are the same
};

namespace detail {
template <class T> struct DistState;
}

template <Real T> class DistPlan {
 public:
  // Collective. Throws InvalidArgument for no, more than three or non-positive lengths, transposed order of other than
  // 1-D complex transforms, distributions that are not those of the lengths or of this group; and what Plan throws.
  DistPlan(const comm::Communicator& group, const Executor& executor, const DistDescription& description);
  DistPlan(const comm::Communicator& group, const Executor& executor, const DistDescription& description,
           const dist::Boxes& input, const dist::Boxes& output);

  [[nodiscard]] const DistDescription& description() const;
  [[nodiscard]] const dist::Boxes& input_distribution() const;
  [[nodiscard]] const dist::Boxes& output_distribution() const;
  [[nodiscard]] int exchanges() const;  // all-to-alls of one execution
  [[nodiscard]] Accuracy accuracy() const;
  // n1 and n2 of a 1-D transform.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> factors() const;

  using C = std::complex<T>;
  // Complex transforms may have one array as both.
  void execute(const dist::Array<C>& in, const dist::Array<C>& out) const;
  void execute(const dist::Array<T>& in, const dist::Array<C>& out) const;
  void execute(const dist::Array<C>& in, const dist::Array<T>& out) const;

 private:
  std::shared_ptr<detail::DistState<T>> state_;
};

}  // namespace trn::fft
