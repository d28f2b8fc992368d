// Records on disk: where a sweep reads them from and writes them to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/file.hpp"
#include "task/parallel.hpp"
#include "xorder/descend/descend.hpp"

namespace xorder::descend {

/// An array in a file.
struct Elements {
  io::Location begin;
  std::uint64_t bytes = 0;  ///< of an element
};

/// May be used by several threads at once.
class RecordSource {
 public:
  /// Reads records that RecordSink wrote.
  RecordSource(const Computation& what, Elements records);
  /// Makes records from arrays by what.load(). Several arrays, or elements of another size than records, go
  /// through buffers of `request_bytes`, each for all arrays.
  RecordSource(Computation& what, std::vector<Elements> inputs, std::uint64_t request_bytes);

  void read(std::uint64_t first, std::uint64_t count, std::byte* records);

 private:
  void read_elements(const Elements& from, std::uint64_t first, std::uint64_t count, std::byte* to);
  void load_in_parts(std::uint64_t first, std::uint64_t count, std::byte* records);

  Computation* loader_ = nullptr;
  std::vector<Elements> inputs_;
  std::uint64_t record_bytes_;
  std::uint64_t part_ = 0;  // elements that go through a buffer at once
  task::BufferPool staging_;
};

/// May be used by several threads at once.
class RecordSink {
 public:
  RecordSink(const Computation& what, Elements records);
  /// Makes elements from the records by what.store().
  RecordSink(Computation& what, Elements output, std::uint64_t request_bytes);

  /// May change the records.
  void write(std::uint64_t first, std::uint64_t count, std::byte* records);

 private:
  void write_elements(std::uint64_t first, std::uint64_t count, const std::byte* from);

  Computation* storer_ = nullptr;
  Elements to_;
  std::uint64_t record_bytes_;
  std::uint64_t part_ = 0;
  task::BufferPool staging_;
};

}  // namespace xorder::descend
