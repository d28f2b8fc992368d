// Open files, with the descriptors and alignments that the engines need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "io/descriptor.hpp"
#include "io/transfer.hpp"
#include "xorder/error.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::io {

class Disk;
class PageCache;
Disk& system_disk();

/// How data blocks reach a file. direct asks for O_DIRECT and falls back to buffered where the file system
/// refuses it; File::access() tells which it is. buffered drops pages that it has passed, to keep the page
/// cache small. mapped maps windows of the file.
enum class Access { direct, buffered, mapped };

/// An open file. Move-only. The destructor closes it and ignores errors: what matters was synced before. Must
/// not be moved or destroyed while a queue has transfers of it in flight.
enum class Kept;

class File {
 public:
  /// Opens a regular file for reading; never blocks on a FIFO. Throws InputError for what cannot be an input
  /// (missing, unreadable, directory, FIFO, socket, device, "-"), naming the path and the reason.
  static File open_input(const std::filesystem::path& path, Access access, Disk& disk = system_disk());
  /// Opens the same file for reading once more, whatever its name is now.
  File reopen(Access access, Disk& disk) const;
  /// The same for reading and writing. Throws InputError if it may not be written.
  File reopen_for_writing(Access access, Disk& disk) const;
  /// Makes a nameless read-write file of `bytes` bytes in `directory` and reserves its space. The bytes read
  /// as zeros. The file disappears with its last descriptor, even after SIGKILL. It is for scratch files;
  /// Output makes files that get a name. `name` is for messages. Throws InputError, saying how much is needed
  /// and how much is free, if there is no room, or if the directory is missing or not writable.
  static File create_nameless(const std::filesystem::path& directory, const std::string& name,
                              std::uint64_t bytes, Access access, Disk& disk = system_disk());
  /// The same with a name, which is returned too. Other processes can open it by that name until the caller
  /// removes it.
  static std::pair<File, std::filesystem::path> create_named(const std::filesystem::path& directory,
                                                             const std::string& name, std::uint64_t bytes,
                                                             Access access, Disk& disk = system_disk());
  /// Makes or opens a file that a resumable run keeps: see open_kept() in io/kept.hpp. A new one gets its
  /// space reserved. `name` is for messages. Throws InputError.
  static File kept(const std::filesystem::path& directory, const std::string& kept, const std::string& name,
                   std::uint64_t bytes, Access access, Kept how, Disk& disk);
  /// Opens a file that another process has made, for reading and writing: its Output::temporary_path(), or a
  /// path from create_named(). `name` is for messages. Throws IoError.
  static File join(const std::filesystem::path& path, const std::string& name, std::uint64_t bytes,
                   Access access, Disk& disk = system_disk());
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  const std::string& name() const { return name_; }
  /// Unique among the files that this process opens or makes. One that OutputFiles opens again keeps it.
  std::uint64_t number() const { return number_; }
  /// The disk that it was opened on and that all its operations use.
  Disk& disk() const { return *disk_; }
  /// The descriptor for data blocks (O_DIRECT if access() is direct).
  int descriptor() const { return data_.get(); }
  /// A descriptor without O_DIRECT, for headers and parts of blocks. The pages it touches hold no whole
  /// direct blocks.
  int plain_descriptor() const { return plain_.get(); }
  Access access() const { return access_; }
  /// The size when it was opened or created.
  std::uint64_t size() const { return size_; }
  /// Whether it is open for writing: made by create_nameless(), create_named() or Output, or opened by
  /// join() or reopen_for_writing().
  bool writable() const { return writable_; }

  /// For direct transfers, the offset and the length of every piece must be multiples of offset_alignment(),
  /// and addresses in memory multiples of memory_alignment(). Both are 1 for other kinds of access. Writes
  /// should be multiples of 4096 in any case: see write_alignment().
  std::uint32_t offset_alignment() const { return offset_alignment_; }
  std::uint32_t memory_alignment() const { return memory_alignment_; }
  /// The file system's block size. A direct write of a part of a block costs a read-modify-write and
  /// serialises. 1 if not direct.
  std::uint32_t write_alignment() const { return write_alignment_; }

  /// Whether buffered and mapped transfers leave their pages in the page cache, as cp does. That is right for
  /// files that fit in memory. By default pages are dropped after use. Set it before the first transfer.
  void set_keep_cached(bool keep);
  /// How many bytes may stay in the page cache after buffered and mapped reads (4 MiB by default), and how
  /// many may be in write-back (32 MiB). Set them before the first transfer.
  void set_windows(std::size_t read, std::size_t written);

  FileStamp stamp() const;
  /// The same when the clock has passed the ctime, so that every later change gives another stamp. If the
  /// file has changed just now, waits for a tick of its file system's times: some milliseconds, but up to two
  /// seconds where they are whole seconds.
  FileStamp settled_stamp() const;
  /// Writes back dirty pages, so that from now on the first store into any mapped page changes the stamp's
  /// time. (A store into a page that is already dirty leaves no trace.) It has no effect on file systems
  /// without write-back, such as tmpfs.
  void write_back_dirty_pages() const;

  /// Reads or writes exactly `bytes` at any `offset`, through the page cache. Throws IoError.
  void read_exactly(void* data, std::size_t bytes, std::uint64_t offset) const;
  void write_exactly(const void* data, std::size_t bytes, std::uint64_t offset) const;
  /// fsync. The first error is final. An error that a queue has met in write-back is reported here too.
  /// Throws IoError.
  void sync() const;
  /// Makes sure that what was written can be read again. Pages that are dropped must have reached the disk
  /// before, so their write-back is awaited; where pages stay, or were passed by, nothing is to be done.
  /// Throws IoError.
  void finish_writing() const;

  /// What to throw for a transfer that failed.
  IoError failed(Transfer::Kind kind, const Completion& done) const;

  /// For the queues. It keeps this file's share of the page cache small.
  PageCache& page_cache() const { return *page_cache_; }

 private:
  explicit File(Disk& disk);
  friend class Output;
  friend class OutputFiles;
  static File adopt_new(Descriptor plain, const std::filesystem::path& directory, const std::string& name,
                        std::uint64_t bytes, Access access, Disk& disk);
  static File opened_for_writing(Descriptor plain, const std::string& name, std::uint64_t bytes,
                                 Access access, Disk& disk);
  void transfer_exactly(Transfer::Kind kind, std::byte* data, std::size_t bytes, std::uint64_t offset) const;
  void open_data_descriptor(Access access, int flags);
  void advise_no_read_ahead() const;

  Disk* disk_;
  std::uint64_t number_;
  std::string name_;
  Descriptor plain_;
  Descriptor data_;
  Access access_ = Access::buffered;
  bool writable_ = false;
  std::uint64_t size_ = 0;
  std::uint32_t offset_alignment_ = 1;
  std::uint32_t memory_alignment_ = 1;
  std::uint32_t write_alignment_ = 1;
  std::unique_ptr<PageCache> page_cache_;
};

/// Where data begins: a file and an offset in bytes.
struct Location {
  const File& file;
  std::uint64_t offset = 0;
};

/// "direct", "buffered" or "mapped".
const char* name(Access access);

}  // namespace xorder::io
