// What tests put around the `neuron` executor: environment variables and folders for the time of a test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace trn::neuron::testing {

// An environment variable for the time of a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

class Folder {
 public:
  Folder() {
    std::string text = (std::filesystem::temp_directory_path() / "trn_silicon_XXXXXX").string();
    path = mkdtemp(text.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

}  // namespace trn::neuron::testing
