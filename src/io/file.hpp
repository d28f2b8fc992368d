// Open files as the engines need them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "io/descriptor.hpp"
#include "io/transfer.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::io {

class Disk;
class PageCache;
Disk& system_disk();

/// How data blocks reach a file. direct asks for O_DIRECT and falls back to buffered where the file system
/// refuses it (File::access() says what it became); buffered keeps the page cache small by dropping what it
/// has passed; mapped maps windows of the file.
enum class Access { direct, buffered, mapped };

/// An open file. Move-only; closes on destruction (errors of close are ignored: what matters was synced
/// before). Must not be moved or destroyed while a queue has transfers of it in flight.
class File {
 public:
  /// Opens a regular file for reading; never blocks on a FIFO. Throws InputError for what cannot be an input
  /// (missing, unreadable, directory, FIFO, socket, device, "-"), naming the path and the reason.
  static File open_input(const std::filesystem::path& path, Access access, Disk& disk = system_disk());
  /// The same file, by whatever name it goes now, opened for reading once more.
  File reopen(Access access, Disk& disk) const;
  /// A nameless read-write file of `bytes` bytes in `directory`, its space reserved (the bytes read as
  /// zeros); gone with its last descriptor, even after SIGKILL. For scratch files; Output has its own for
  /// what gets a name. `name` is for messages. Throws InputError, saying how much is needed and how much is
  /// free, if there is no room, or if the directory is missing or not writable.
  static File create_nameless(const std::filesystem::path& directory, const std::string& name,
                              std::uint64_t bytes, Access access, Disk& disk = system_disk());
  /// The same with a name, which the caller removes; other processes can open it as long as it has that.
  static std::pair<File, std::filesystem::path> create_named(const std::filesystem::path& directory,
                                                             const std::string& name, std::uint64_t bytes,
                                                             Access access, Disk& disk = system_disk());
  /// Opens for reading and writing what another process has made: its Output::temporary_path(), or what
  /// create_named() gave. `name` is for messages. Throws IoError.
  static File join(const std::filesystem::path& path, const std::string& name, std::uint64_t bytes,
                   Access access, Disk& disk = system_disk());
  /// Throws InputError unless files could be made in `directory`, room aside. Makes nothing.
  static void check_directory(const std::filesystem::path& directory, const std::string& name,
                              Disk& disk = system_disk());
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  const std::string& name() const { return name_; }
  /// Another one for every file that this process opens or makes.
  std::uint64_t number() const { return number_; }
  /// The disk that it was opened on, through which everything of it passes.
  Disk& disk() const { return *disk_; }
  /// The descriptor for data blocks (O_DIRECT if access() is direct).
  int descriptor() const { return data_.get(); }
  /// A descriptor without O_DIRECT for headers and odd ends; pages it touches are not those of full direct
  /// blocks.
  int plain_descriptor() const { return plain_.get(); }
  Access access() const { return access_; }
  /// When it was opened, or as created.
  std::uint64_t size() const { return size_; }
  /// Whether it was created here.
  bool writable() const { return writable_; }

  /// Direct transfers: offset and length (of every piece too) are multiples of this in the file, addresses of
  /// memory_alignment() in memory. 1 for other kinds of access. Writes should use multiples of 4096 in any
  /// case, see write_alignment().
  std::uint32_t offset_alignment() const { return offset_alignment_; }
  std::uint32_t memory_alignment() const { return memory_alignment_; }
  /// The file system's block: writing parts of one directly costs a read-modify-write and serialises. 1 if
  /// not direct.
  std::uint32_t write_alignment() const { return write_alignment_; }

  /// Whether buffered and mapped transfers leave their pages in the page cache (as cp does; right for files
  /// that fit in memory) or drop them when they are done with, the default. Set it before the first transfer.
  bool keep_cached() const;
  void set_keep_cached(bool keep);
  /// How many bytes of buffered and mapped writes may be on their way to the disk, 32 MiB by default. Set it
  /// before the first transfer.
  void set_write_window(std::size_t bytes);

  FileStamp stamp() const;
  /// Writes back what others have stored into mapped pages, so that from now on the first store into any page
  /// moves the stamp's time. (A page that is dirty already takes stores without a trace.) On file systems
  /// that keep account of that: not on tmpfs.
  void write_back_dirty_pages() const;

  /// Reads or writes exactly `bytes` at any `offset`, through the page cache. Throws IoError.
  void read_exactly(void* data, std::size_t bytes, std::uint64_t offset) const;
  void write_exactly(const void* data, std::size_t bytes, std::uint64_t offset) const;
  /// fsync; the first error is final, also one that a queue has met in write-back before. Throws IoError.
  void sync() const;

  /// For the queues: what keeps this file's share of the page cache small.
  PageCache& page_cache() const { return *page_cache_; }

 private:
  explicit File(Disk& disk);
  friend class Output;
  static File adopt_new(Descriptor plain, const std::filesystem::path& directory, const std::string& name,
                        std::uint64_t bytes, Access access, Disk& disk);
  void carry_exactly(Transfer::Kind kind, std::byte* data, std::size_t bytes, std::uint64_t offset) const;
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
