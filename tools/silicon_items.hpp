// Questions of silicon-check with an answer in words, and the small run that many of them make.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <trn/core/error.hpp>
#include <trn/tile/launch.hpp>

#include "silicon_kernels.hpp"
#include "silicon_report.hpp"

namespace trn::tools::silicon {

inline bool simulated(const std::string& executor) { return executor.starts_with("sim:"); }

inline std::vector<float> numbers(std::int64_t n) {
  std::vector<float> v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i % 1000) - 500;
  return v;
}

// y = 2 x + 1 on the device, from and to these places.
inline void run_line(const Executor& executor, std::int64_t columns, const void* x, std::int64_t x_offset, void* y,
                     std::int64_t y_offset) {
  const tile::Program program = line_program(tile::device_of(executor).machine(), columns);
  const std::vector<tile::Argument> arguments{{"x", x, x_offset}, {"y", y, y_offset}};
  tile::launch(executor, program, arguments);
}

// The toolchain has not made the kernel that a question needs.
inline bool not_compiled(const DeviceError& error) { return error.check().starts_with("neff-"); }

class Items {
 public:
  explicit Items(Json& out) : out_(out) { out_["items"] = Json::array(); }
  // The answer: "ok" when it is the expected one, "other" when it is not, "answered" where nothing is known beforehand
  // (an empty `expected`). An exception is an answer too; but a kernel that is not compiled answers nothing: the
  // question is "skipped", counts as left out, and the section has findings unless the check was to end.
  void ask(const char* item, const std::string& expected, const std::function<std::string()>& question) {
    std::string answer;
    try {
      answer = question();
    } catch (const DeviceError& e) {
      answer = "error " + (e.check().empty() ? std::string(e.what()) : e.check());
      if (not_compiled(e) && answer != expected) {
        out_["left_out"] = out_.value("left_out", std::int64_t{0}) + 1;
        if (stopped_compiling(e)) {
          leave(item, why_left_out());
          return;
        }
        leave(item, "not compiled: " + e.check());
        out_["left_why"] = "not compiled";
        out_["status"] = "findings";
        return;
      }
    } catch (const Error& e) {
      answer = std::string("error ") + e.what();
    }
    const char* status = expected.empty() ? "answered" : answer == expected ? "ok" : "other";
    out_["items"].push_back({{"item", item}, {"status", status}, {"answer", answer}, {"expected", expected}});
    if (!expected.empty() && answer != expected) out_["status"] = "findings";
  }
  void leave(const char* item, const std::string& reason) {
    out_["items"].push_back({{"item", item}, {"status", "skipped"}, {"answer", reason}, {"expected", ""}});
  }

 private:
  Json& out_;
};

}  // namespace trn::tools::silicon
