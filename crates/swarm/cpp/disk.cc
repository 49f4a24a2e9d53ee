#include "hashlane-swarm/cpp/disk.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <libtorrent/add_torrent_params.hpp>
#include <libtorrent/disk_buffer_holder.hpp>
#include <libtorrent/disk_observer.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/file_storage.hpp>
#include <libtorrent/io_context.hpp>
#include <libtorrent/performance_counters.hpp>
#include <libtorrent/settings_pack.hpp>
#include <libtorrent/storage_defs.hpp>
#include <libtorrent/version.hpp>

#include "hashlane-swarm/src/ffi.rs.h"

namespace hashlane {

std::string StorageRegistry::put(std::shared_ptr<StorageHandle const> storage)
{
    std::lock_guard<std::mutex> const lock(mutex_);
    // libtorrent makes relative folders absolute.
    std::string ticket = "/" + std::to_string(next_++);
    storages_.emplace(ticket, std::move(storage));
    return ticket;
}

std::shared_ptr<StorageHandle const> StorageRegistry::take(std::string const& ticket)
{
    std::lock_guard<std::mutex> const lock(mutex_);
    auto const found = storages_.find(ticket);
    if (found == storages_.end()) return nullptr;
    auto storage = std::move(found->second);
    storages_.erase(found);
    return storage;
}

namespace {

constexpr int block_len = 16 * 1024;

// Unwritten bytes at which libtorrent stops reading from peers, and at which it continues.
constexpr std::int64_t max_unwritten = 16 * 1024 * 1024;
constexpr std::int64_t low_unwritten = max_unwritten / 2;

constexpr std::size_t n_threads = 4;

// Maximum length of one write.
constexpr std::size_t max_write_len = 1024 * 1024;

// Threads that run jobs. The constructor of Boost's own pool waits forever if the system refuses one of the threads.
class Pool {
public:
    using executor_type = boost::asio::io_context::executor_type;

    explicit Pool(std::size_t size)
    {
        threads_.reserve(size);
        try {
            while (threads_.size() < size) threads_.emplace_back([this] { jobs_.run(); });
        } catch (std::system_error const& error) {
            join();
            throw std::runtime_error(std::string("cannot start a thread: ") + error.what());
        } catch (...) {
            join();
            throw;
        }
    }

    ~Pool() { join(); }

    Pool(Pool const&) = delete;
    Pool& operator=(Pool const&) = delete;

    executor_type executor() { return jobs_.get_executor(); }

    // Waits until all jobs are done.
    void join()
    {
        guard_.reset();
        for (auto& thread : threads_) thread.join();
        threads_.clear();
    }

private:
    boost::asio::io_context jobs_;
    boost::asio::executor_work_guard<executor_type> guard_ = boost::asio::make_work_guard(jobs_);
    std::vector<std::thread> threads_;
};

using WriteHandler = std::function<void(lt::storage_error const&)>;

// Adjacent blocks of a piece, with the handler of each.
struct Write {
    lt::piece_index_t piece;
    int begin;
    std::vector<char> bytes;
    std::vector<WriteHandler> handlers;

    bool takes(lt::peer_request const& request) const
    {
        return request.piece == piece && request.start == begin + static_cast<int>(bytes.size())
            && bytes.size() + static_cast<std::size_t>(request.length) <= max_write_len;
    }
};

// The jobs of one torrent on its files. Its strand runs them in the order of their requests: a hash or a read sees all
// earlier writes, because the kernel already has their bytes. Later writes that joined an earlier job concern other
// pieces.
struct TorrentJobs {
    TorrentJobs(Pool& pool, lt::file_storage const& fs, std::shared_ptr<StorageHandle const> handle)
        : strand(boost::asio::make_strand(pool.executor())), files(fs), storage(std::move(handle))
    {
    }

    boost::asio::strand<Pool::executor_type> strand;
    // Valid while libtorrent makes requests for the torrent. Only the network thread uses it.
    lt::file_storage const& files;
    // Null for a magnet link whose metadata was received: its files must not be touched.
    std::shared_ptr<StorageHandle const> storage;
    // Pending writes. A job on the strand will write them.
    std::mutex mutex;
    std::vector<Write> writes;
};

// The errors for a range outside every piece, and for a file that changed. They concern only the peer that requested or
// sent the range. `read_alerts` drops the alert about such a read. libtorrent ignores a write that was aborted.
lt::storage_error refused_read()
{
    lt::storage_error error;
    error.ec = lt::errors::invalid_request;
    error.operation = lt::operation_t::file_read;
    return error;
}

lt::storage_error refused_write()
{
    lt::storage_error error;
    error.ec = boost::asio::error::operation_aborted;
    error.operation = lt::operation_t::file_write;
    return error;
}

lt::storage_error error_of(int number, lt::operation_t operation)
{
    // The storage reads nothing from a file that changed.
    if (number < 0) return refused_read();
    lt::storage_error error;
    if (number != 0) {
        error.ec.assign(number, lt::system_category());
        error.operation = operation;
    }
    return error;
}

// Returns true if the range is at most one block and lies within a piece of nominal length. Peers choose ranges.
// libtorrent checks them first, with its own lengths of pieces.
bool is_in_piece(lt::peer_request const& request, lt::file_storage const& files)
{
    return request.piece >= lt::piece_index_t(0) && request.piece < files.end_piece()
        && request.start >= 0 && request.length >= 0 && request.length <= block_len
        && request.start <= files.piece_length() - request.length;
}

rust::Slice<std::uint8_t> bytes_of(char* data, std::size_t len)
{
    return {reinterpret_cast<std::uint8_t*>(data), len};
}

rust::Slice<std::uint8_t const> bytes_of(std::vector<char> const& bytes)
{
    return {reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()};
}

std::uint32_t number_of(lt::piece_index_t piece)
{
    return static_cast<std::uint32_t>(static_cast<int>(piece));
}

// An enumeration in libtorrent 2.0, flags in 2.1.
#if LIBTORRENT_VERSION_NUM < 20100
constexpr auto no_error = lt::status_t::no_error;
constexpr auto fatal_error = lt::status_t::fatal_disk_error;
#else
constexpr auto no_error = lt::status_t{};
constexpr auto fatal_error = lt::disk_status::fatal_disk_error;
#endif

// Buffers outlive the disk: a peer can still hold one.
struct Buffers final : lt::buffer_allocator_interface {
    void free_disk_buffer(char* data) override { delete[] data; }
#if LIBTORRENT_VERSION_NUM >= 20100
    void free_multiple_buffers(lt::span<char*> all) override
    {
        for (auto* const data : all) delete[] data;
    }
#endif
};

Buffers buffers;

// Wraps a raw block in libtorrent's owning buffer type.
lt::disk_buffer_holder owned(char* data)
{
#if LIBTORRENT_VERSION_NUM < 20100
    return {buffers, data, block_len};
#else
    return {buffers, data};
#endif
}

// Shares a handler instead of copying it: libtorrent's handler of `async_hash` owns the memory for the
// digests of leaves, and a copy would own other memory.
template <typename Handler>
auto shared(Handler&& handler)
{
    return std::make_shared<std::decay_t<Handler>>(std::forward<Handler>(handler));
}

class Disk final : public lt::disk_interface {
public:
    Disk(lt::io_context& ios, std::shared_ptr<StorageRegistry> registry)
        : ios_(ios), registry_(std::move(registry)), pool_(n_threads)
    {
    }

    ~Disk() override
    {
        is_aborted_ = true;
        pool_.join();
    }

    lt::storage_holder new_torrent(
        lt::storage_params const& params, std::shared_ptr<void> const&) override
    {
        std::size_t index = 0;
        while (index < torrents_.size() && torrents_[index]) ++index;
        if (index == torrents_.size()) torrents_.emplace_back();
        torrents_[index]
            = std::make_shared<TorrentJobs>(pool_, params.files, registry_->take(std::string(params.path)));
        return {lt::storage_index_t(static_cast<std::uint32_t>(index)), *this};
    }

    void remove_torrent(lt::storage_index_t index) override { at(index).reset(); }

    void async_read(lt::storage_index_t index, lt::peer_request const& request,
        std::function<void(lt::disk_buffer_holder, lt::storage_error const&)> handler,
        lt::disk_job_flags_t) override
    {
        auto done = shared(std::move(handler));
        auto const refuse = [this, done](lt::storage_error const& error) {
            boost::asio::post(ios_, [done, error] { (*done)(lt::disk_buffer_holder(), error); });
        };
        if (!is_in_piece(request, at(index)->files)) {
            refuse(refused_read());
            return;
        }
        in_turn(index, [this, request, done](TorrentJobs& torrent) mutable {
            auto* const data = new char[block_len];
            int const number = with_descriptors([&] {
                return torrent.storage->read(number_of(request.piece),
                    static_cast<std::uint32_t>(request.start),
                    bytes_of(data, static_cast<std::size_t>(request.length)));
            });
            auto const error = error_of(number, lt::operation_t::file_read);
            boost::asio::post(ios_, [done = std::move(done), error, buffer = owned(data)]() mutable {
                (*done)(std::move(buffer), error);
            });
        }, refuse);
    }

    // Blocks arrive one by one and are usually adjacent. Pending blocks are written together, which saves system calls
    // and messages between threads.
    bool async_write(lt::storage_index_t index, lt::peer_request const& request, char const* data,
        std::shared_ptr<lt::disk_observer> observer, WriteHandler handler,
        lt::disk_job_flags_t) override
    {
        auto const torrent = at(index);
        if (!is_in_piece(request, torrent->files)) {
            boost::asio::post(ios_, [handler = std::move(handler)] { handler(refused_write()); });
            return false;
        }
        bool const is_too_much = (unwritten_ += request.length) > max_unwritten;
        if (is_too_much && observer) observers_.push_back(observer);
        bool is_first = false;
        {
            std::lock_guard<std::mutex> const lock(torrent->mutex);
            auto& writes = torrent->writes;
            is_first = writes.empty();
            if (is_first || !writes.back().takes(request)) {
                writes.push_back({request.piece, request.start, {}, {}});
            }
            auto& bytes = writes.back().bytes;
            // A second block is usually followed by more blocks.
            if (!bytes.empty()) bytes.reserve(std::max(bytes.capacity(), 16 * std::size_t(block_len)));
            bytes.insert(bytes.end(), data, data + request.length);
            writes.back().handlers.push_back(std::move(handler));
        }
        if (is_first) {
            in_turn(index, [this](TorrentJobs& that) { write_waiting(that); },
                [this, torrent](lt::storage_error const& error) {
                    for (auto& write : take_waiting(*torrent)) report(std::move(write), error);
                });
        }
        return is_too_much;
    }

    void async_hash(lt::storage_index_t index, lt::piece_index_t piece,
        lt::span<lt::sha256_hash> leaves, lt::disk_job_flags_t flags,
        std::function<void(lt::piece_index_t, lt::sha1_hash const&, lt::storage_error const&)> handler)
        override
    {
        bool const is_v1 = bool(flags & lt::disk_interface::v1_hash);
        // Digests after the last leaf of the file are left unchanged.
        auto const n_leaves = leaves.empty()
            ? 0
            : std::min(leaves.size(), std::ptrdiff_t(at(index)->files.blocks_in_piece2(piece)));
        auto done = shared(std::move(handler));
        in_turn(index, [this, piece, leaves, n_leaves, is_v1, done](TorrentJobs& torrent) mutable {
            lt::sha1_hash digest;
            int const number = with_descriptors([&] {
                return torrent.storage->hash(number_of(piece),
                    is_v1 ? bytes_of(digest.data(), 20) : bytes_of(digest.data(), 0),
                    bytes_of(reinterpret_cast<char*>(leaves.data()), static_cast<std::size_t>(n_leaves) * 32));
            });
            auto const error = error_of(number, lt::operation_t::file_read);
            boost::asio::post(ios_, [done = std::move(done), piece, digest, error] {
                (*done)(piece, digest, error);
            });
        }, [this, piece, done](lt::storage_error const& error) {
            boost::asio::post(ios_, [done, piece, error] { (*done)(piece, lt::sha1_hash(), error); });
        });
    }

    void async_hash2(lt::storage_index_t index, lt::piece_index_t piece, int begin,
        lt::disk_job_flags_t,
        std::function<void(lt::piece_index_t, lt::sha256_hash const&, lt::storage_error const&)> handler)
        override
    {
        int const len = std::min(block_len, at(index)->files.piece_size2(piece) - begin);
        auto done = shared(std::move(handler));
        auto const refuse = [this, piece, done](lt::storage_error const& error) {
            boost::asio::post(ios_, [done, piece, error] { (*done)(piece, lt::sha256_hash(), error); });
        };
        if (begin < 0 || len <= 0) {
            refuse(error_of(EINVAL, lt::operation_t::file_read));
            return;
        }
        in_turn(index, [this, piece, begin, len, done](TorrentJobs& torrent) mutable {
            lt::sha256_hash digest;
            int const number = with_descriptors([&] {
                return torrent.storage->hash_leaf(number_of(piece), static_cast<std::uint32_t>(begin),
                    static_cast<std::uint32_t>(len), bytes_of(digest.data(), 32));
            });
            auto const error = error_of(number, lt::operation_t::file_read);
            boost::asio::post(ios_, [done = std::move(done), piece, digest, error] {
                (*done)(piece, digest, error);
            });
        }, refuse);
    }

    void async_move_storage(lt::storage_index_t, std::string path, lt::move_flags_t,
        std::function<void(lt::status_t, std::string const&, lt::storage_error const&)> handler) override
    {
        auto const error = error_of(ENOTSUP, lt::operation_t::file_rename);
        boost::asio::post(ios_, [handler, path, error] {
            handler(fatal_error, path, error);
        });
    }

    void async_release_files(lt::storage_index_t index, std::function<void()> handler) override
    {
        close(index, std::move(handler));
    }

    // The torrent was verified before it was added.
    void async_check_files(lt::storage_index_t, lt::add_torrent_params const*,
        lt::aux::vector<std::string, lt::file_index_t>,
        std::function<void(lt::status_t, lt::storage_error const&)> handler) override
    {
        boost::asio::post(ios_, [handler] { handler(no_error, lt::storage_error()); });
    }

    void async_stop_torrent(lt::storage_index_t index, std::function<void()> handler) override
    {
        close(index, std::move(handler));
    }

    void async_rename_file(lt::storage_index_t, lt::file_index_t file, std::string name,
        std::function<void(std::string const&, lt::file_index_t, lt::storage_error const&)> handler)
        override
    {
        auto const error = error_of(ENOTSUP, lt::operation_t::file_rename);
        boost::asio::post(ios_, [handler, name, file, error] { handler(name, file, error); });
    }

    void async_delete_files(lt::storage_index_t, lt::remove_flags_t,
        std::function<void(lt::storage_error const&)> handler) override
    {
        auto const error = error_of(ENOTSUP, lt::operation_t::file_remove);
        boost::asio::post(ios_, [handler, error] { handler(error); });
    }

    void async_set_file_priority(lt::storage_index_t,
        lt::aux::vector<lt::download_priority_t, lt::file_index_t> priorities,
        std::function<void(lt::storage_error const&,
            lt::aux::vector<lt::download_priority_t, lt::file_index_t>)> handler) override
    {
        boost::asio::post(ios_, [handler, priorities] { handler(lt::storage_error(), priorities); });
    }

    void async_clear_piece(lt::storage_index_t index, lt::piece_index_t piece,
        std::function<void(lt::piece_index_t)> handler) override
    {
        after_all(index, [handler = std::move(handler), piece] { handler(piece); });
    }

    void update_stats_counters(lt::counters&) const override {}
    std::vector<lt::open_file_state> get_status(lt::storage_index_t) const override { return {}; }
    void submit_jobs() override {}
    void settings_updated() override {}

    void abort(bool wait) override
    {
        is_aborted_ = true;
        if (wait) pool_.join();
    }

private:
    std::shared_ptr<TorrentJobs>& at(lt::storage_index_t index)
    {
        return torrents_[static_cast<std::size_t>(static_cast<std::uint32_t>(index))];
    }

    // Runs `job` after all earlier jobs of this torrent, or calls `refuse` with the reason.
    //
    // Handlers own objects of libtorrent, and only the network thread may destroy them: a job moves its handler into
    // the message that it posts there. (A lambda copies a value that it captures from a constant.)
    template <typename Job, typename Refuse>
    void in_turn(lt::storage_index_t index, Job job, Refuse refuse)
    {
        auto const torrent = at(index);
        if (!torrent->storage) {
            refuse(error_of(EROFS, lt::operation_t::file_open));
            return;
        }
        // Keeps the network thread running until the job is done. It is declared first, so it is destroyed last.
        auto guard = boost::asio::make_work_guard(ios_);
        boost::asio::post(torrent->strand,
            [guard = std::move(guard), torrent, job = std::move(job)]() mutable { job(*torrent); });
    }

    // Repeats an operation while the system has no descriptor for its file. Later operations of the torrent
    // wait. The storage closes other files and waits for a second before it fails.
    template <typename Operation> int with_descriptors(Operation operation)
    {
        int number = operation();
        while ((number == EMFILE || number == ENFILE) && !is_aborted_) number = operation();
        return number;
    }

    static std::vector<Write> take_waiting(TorrentJobs& torrent)
    {
        std::lock_guard<std::mutex> const lock(torrent.mutex);
        return std::exchange(torrent.writes, {});
    }

    void write_waiting(TorrentJobs& torrent)
    {
        for (auto& write : take_waiting(torrent)) {
            int const number = with_descriptors([&] {
                return torrent.storage->write(number_of(write.piece),
                    static_cast<std::uint32_t>(write.begin), bytes_of(write.bytes));
            });
            report(std::move(write), error_of(number, lt::operation_t::file_write));
        }
    }

    // Calls the handlers of all blocks of a write.
    void report(Write write, lt::storage_error const& error)
    {
        auto const len = static_cast<std::int64_t>(write.bytes.size());
        boost::asio::post(ios_, [this, len, error, handlers = std::move(write.handlers)] {
            unwritten_ -= len;
            for (auto const& handler : handlers) handler(error);
            if (unwritten_ <= low_unwritten) wake();
        });
    }

    void close(lt::storage_index_t index, std::function<void()> handler)
    {
        after_all(index, std::move(handler), [](TorrentJobs& torrent) { torrent.storage->close(); });
    }

    // Runs `job` after all earlier jobs of this torrent, and then calls the handler.
    template <typename Job = void (*)(TorrentJobs&)>
    void after_all(
        lt::storage_index_t index, std::function<void()> handler, Job job = [](TorrentJobs&) {})
    {
        auto done = shared(std::move(handler));
        auto const call = [this](std::shared_ptr<std::function<void()>> callee) {
            boost::asio::post(ios_, [callee = std::move(callee)] {
                if (*callee) (*callee)();
            });
        };
        in_turn(index, [call, job, done](TorrentJobs& torrent) mutable {
            job(torrent);
            call(std::move(done));
        }, [call, done](lt::storage_error const&) { call(done); });
    }

    // Lets libtorrent read from the paused peers again.
    void wake()
    {
        auto const observers = std::exchange(observers_, {});
        for (auto const& weak : observers) {
            if (auto const observer = weak.lock()) observer->on_disk();
        }
    }

    lt::io_context& ios_;
    std::shared_ptr<StorageRegistry> registry_;
    std::atomic<bool> is_aborted_{false};
    // Only the network thread, which calls every public function, uses these.
    std::vector<std::shared_ptr<TorrentJobs>> torrents_;
    std::vector<std::weak_ptr<lt::disk_observer>> observers_;
    std::int64_t unwritten_ = 0;
    Pool pool_;
};

} // namespace

lt::disk_io_constructor_type make_disk(std::shared_ptr<StorageRegistry> registry)
{
    return [registry](lt::io_context& ios, lt::settings_interface const&, lt::counters&) {
        return std::make_unique<Disk>(ios, registry);
    };
}

} // namespace hashlane
