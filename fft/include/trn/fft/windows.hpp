// Window functions for spectra, and what short-time transforms need of them. scipy.signal.windows, torch.*_window.
//
// Periodic windows of n points are the first n of the symmetric one of n + 1: the form for spectra (SciPy's get_window,
// torch's default). Symmetric ones are for filters.
#pragma once

#include <cstdint>
#include <vector>

namespace trn::fft {

enum class WindowKind : std::uint8_t { Boxcar, Bartlett, Hann, Hamming, Blackman, Kaiser };
[[nodiscard]] const char* name(WindowKind kind);

enum class WindowForm : std::uint8_t { Periodic, Symmetric };

struct WindowOptions {
  WindowForm form = WindowForm::Periodic;
  double beta = 12;  // of the Kaiser window: 0 is a boxcar, larger is narrower
};

// With x = j/(n-1) (symmetric) in 0 .. 1:
//   Boxcar 1    Bartlett 1 - |2x - 1|    Hann 0.5 - 0.5 cos 2 pi x    Hamming 0.54 - 0.46 cos 2 pi x
//   Blackman 0.42 - 0.5 cos 2 pi x + 0.08 cos 4 pi x    Kaiser I0(beta sqrt(1 - (2x - 1)^2)) / I0(beta)
// Throws InvalidArgument for n < 1 and beta < 0, above 1e8 or NaN.
[[nodiscard]] std::vector<double> window(WindowKind kind, std::int64_t n, const WindowOptions& options = {});

// Whether the windows moved by multiples of `hop` sum to a constant everywhere, to `tolerance` of it (COLA), and
// whether their squares sum to more than `tolerance` of the largest sum everywhere (NOLA): the least that
// reconstruction needs. scipy.signal.check_COLA, check_NOLA.
[[nodiscard]] bool satisfies_cola(const std::vector<double>& window, std::int64_t hop, double tolerance = 1e-10);
[[nodiscard]] bool satisfies_nola(const std::vector<double>& window, std::int64_t hop, double tolerance = 1e-10);

}  // namespace trn::fft
