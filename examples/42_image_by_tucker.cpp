// A colour image as a tensor of rows, columns and colours, compressed by the Tucker decomposition: for an error that is
// allowed the ranks follow, and the core with its three factors is what is kept. The image is drawn here: a sky, a sun
// with a halo, hills and their mirror in water.
#include <algorithm>
#include <cmath>
#include <vector>

#include <trn/trn.hpp>

#include "arguments.hpp"

namespace {

using namespace trn;

Array<double> drawn(std::int64_t rows, std::int64_t columns) {
  Array<double> image(Executor::host(), {rows, columns, 3});
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const double x = static_cast<double>(j) / static_cast<double>(columns),
                   height = 1 - static_cast<double>(i) / static_cast<double>(rows);
      const bool water = height < 0.3;
      const double y = water ? 0.6 - height : height;  // the mirror
      const double hill = 0.42 + 0.08 * std::sin(7 * x) + 0.03 * std::sin(23 * x + 1);
      const double sun = std::hypot((x - 0.7) * 1.3, y - 0.75), halo = std::exp(-18 * sun * sun);
      double colour[3] = {0.35 + 0.3 * (1 - y), 0.55 + 0.15 * (1 - y), 0.9 - 0.2 * (1 - y)};
      for (int c = 0; c < 3; ++c) colour[c] += halo * (c == 2 ? 0.1 : 0.4);
      if (sun < 0.05) colour[0] = 1, colour[1] = 0.95, colour[2] = 0.7;
      if (y < hill) colour[0] = 0.2 + 0.2 * y, colour[1] = 0.4 + 0.1 * std::sin(40 * x) * y, colour[2] = 0.2;
      for (int c = 0; c < 3; ++c) {
        const double dark = water ? 0.8 + 0.05 * std::sin(200 * height) : 1;
        image.data()[(i * columns + j) * 3 + c] = std::clamp(colour[c] * dark, 0.0, 1.0);
      }
    }
  }
  return image;
}

// A portable pixmap; false: the file could not be written.
bool save(const std::string& path, const Array<double>& image) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (!file) return false;
  std::fprintf(file, "P6\n%lld %lld\n255\n", static_cast<long long>(image.shape()[1]),
               static_cast<long long>(image.shape()[0]));
  for (std::int64_t i = 0; i < image.size(); ++i)
    std::fputc(static_cast<int>(std::lround(255 * std::clamp(image.data()[i], 0.0, 1.0))), file);
  const bool bad = std::ferror(file) != 0;
  return std::fclose(file) == 0 && !bad;
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] {
    const example::Arguments arguments(argc, argv, {{"--rows", "144"}, {"--columns", "192"}, {"--out", ""}});
    const Executor host = Executor::host();
    const Array<double> image = drawn(arguments.whole("--rows", 16, 4096), arguments.whole("--columns", 16, 4096));
    std::printf("%s numbers\nepsilon   ranks            kept   ratio    error   PSNR\n",
                std::to_string(image.size()).c_str());
    bool good = true;
    std::int64_t before = image.size() * 2;
    for (const double epsilon : {0.01, 0.03, 0.1}) {
      const tensor::Tucker<double> t = tensor::tucker<double>(host, image.view(), {.epsilon = epsilon});
      const Array<double> back = tensor::reconstruct(host, t);
      double squares = 0, norm = 0;
      for (std::int64_t i = 0; i < image.size(); ++i) {
        squares += std::pow(image.data()[i] - back.data()[i], 2);
        norm += std::pow(image.data()[i], 2);
      }
      std::int64_t kept = t.core.size();
      for (const Matrix<double>& factor : t.factors) kept += factor.rows() * factor.columns();
      const double error = std::sqrt(squares / norm),
                   psnr = -10 * std::log10(squares / static_cast<double>(image.size()));
      std::printf("%-7.2f   %-14s %6lld  %6.1f  %.4f  %5.1f dB\n", epsilon, to_string(t.core.shape()).c_str(),
                  static_cast<long long>(kept), static_cast<double>(image.size()) / static_cast<double>(kept), error,
                  psnr);
      // The error is the one that was asked for, the report's, and within its bound; a larger one takes less room.
      good = good && error <= epsilon && std::abs(std::sqrt(squares) - t.report.error) < 1e-10 * std::sqrt(norm) &&
             std::sqrt(squares) <= t.report.bound * (1 + 1e-12) && kept < before;
      before = kept;
      const std::string& out = arguments.text("--out");
      if (!out.empty()) good = save(out + "_" + std::to_string(epsilon).substr(0, 4) + ".ppm", back) && good;
    }
    return good && before * 4 < image.size() ? 0 : 1;
  });
}
