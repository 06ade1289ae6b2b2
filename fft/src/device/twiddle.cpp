// fft.twiddle on the device: one line of all points, times a table.
#include "../dist/twiddle.hpp"

#include <trn/fft/points_program.hpp>
#include <trn/tile/launch.hpp>
#include <vector>

namespace trn::fft::device {

void twiddle(const Executor& executor, const TwiddleArgs& args) {
  if (args.real == DType::Float32) {
    const PointLayout points{Format::Interleaved, false, args.count, 2};
    const PointwiseShape shape{points, points, {{1, 0, 0}}, true, true};
    tile::launch(executor, pointwise_program, shape,
                 {{"x", args.data}, {"y", args.data}, {"table", args.table->data()}});
    return;
  }
  std::vector<double> x(static_cast<std::size_t>(2 * args.count));
  const auto bytes = static_cast<std::int64_t>(x.size() * sizeof(double));
  copy_bytes(executor, args.data, Executor::host(), x.data(), bytes);
  const double* t = static_cast<const double*>(args.table->data());
  for (std::size_t i = 0; i < x.size(); i += 2) {
    const long double re = x[i], im = x[i + 1], a = t[i], b = t[i + 1];
    x[i] = static_cast<double>(re * a - im * b);
    x[i + 1] = static_cast<double>(re * b + im * a);
  }
  copy_bytes(Executor::host(), x.data(), executor, args.data, bytes);
}

}  // namespace trn::fft::device
