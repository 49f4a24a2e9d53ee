#include "hashlane-swarm/cpp/alerts.h"

#include <string>
#include <utility>

#include <libtorrent/alert_types.hpp>
#include <libtorrent/error_code.hpp>
#include <libtorrent/session_stats.hpp>

#include "hashlane-swarm/cpp/text.h"
#include "hashlane-swarm/cpp/user_data.h"
#include "hashlane-swarm/src/ffi.rs.h"

namespace hashlane {

namespace {

std::uint32_t to_number(lt::piece_index_t piece)
{
    return static_cast<std::uint32_t>(static_cast<int>(piece));
}

// Returns a counter of the session: 0 if this version of libtorrent does not have it.
std::int64_t counter(lt::session_stats_alert const& alert, int index)
{
    auto const counters = alert.counters();
    return index >= 0 && index < static_cast<int>(counters.size()) ? counters[index] : 0;
}

class Reader {
public:
    Reader(rust::Vec<SessionEvent>& events, bool has_tcp, bool has_log)
        : events_(events), has_tcp_(has_tcp), has_log_(has_log)
    {
    }

    void read(lt::alert const* alert)
    {
        static_cast<void>(read_progress(alert) || read_failure(alert) || read_listening(alert)
            || read_sources(alert) || read_peers(alert) || (has_log_ && read_log(alert)));
    }

private:
    // Each function returns false if the alert is not of its kind.

    bool read_progress(lt::alert const* alert)
    {
        using namespace lt;
        if (auto const* a = alert_cast<piece_finished_alert>(alert)) {
            push(EventKind::PieceFinished, a->handle).number = to_number(a->piece_index);
        } else if (auto const* a = alert_cast<hash_failed_alert>(alert)) {
            push(EventKind::PieceFailed, a->handle).number = to_number(a->piece_index);
        } else if (auto const* a = alert_cast<metadata_received_alert>(alert)) {
            auto info = info_dictionary(a->handle);
            push(EventKind::Metadata, a->handle).bytes = std::move(info);
        } else if (auto const* a = alert_cast<torrent_finished_alert>(alert)) {
            push(EventKind::Finished, a->handle);
        } else if (auto const* a = alert_cast<file_prio_alert>(alert)) {
            push(EventKind::Prioritized, a->handle);
        } else if (auto const* a = alert_cast<torrent_removed_alert>(alert)) {
            push(EventKind::Removed, a->userdata);
        } else if (alert_cast<alerts_dropped_alert>(alert)) {
            push(EventKind::Dropped, client_data_t());
        } else if (auto const* a = alert_cast<session_stats_alert>(alert)) {
            static int const nodes = find_metric_idx("dht.dht_nodes");
            static int const incoming = find_metric_idx("net.has_incoming_connections");
            auto& event = push(EventKind::Counters, client_data_t());
            event.number = static_cast<std::uint32_t>(counter(*a, nodes));
            event.has_incoming = counter(*a, incoming) != 0;
        } else {
            return false;
        }
        return true;
    }

    bool read_failure(lt::alert const* alert)
    {
        using namespace lt;
        if (auto const* a = alert_cast<torrent_error_alert>(alert)) {
            push(EventKind::Failed, a->handle).text = to_rust(describe(a->error));
        } else if (auto const* a = alert_cast<file_error_alert>(alert)) {
            // The disk refused a peer's range. No file failed.
            if (a->error == errors::invalid_request) return true;
            auto& event = push(EventKind::FileFailed, a->handle);
            event.text = to_rust(a->error.message());
            event.error = a->error.value();
        } else {
            return false;
        }
        return true;
    }

    bool read_listening(lt::alert const* alert)
    {
        using namespace lt;
        if (auto const* a = alert_cast<listen_succeeded_alert>(alert)) {
            if (a->socket_type == (has_tcp_ ? socket_type_t::tcp : socket_type_t::utp)) {
                auto& event = push(EventKind::Listening, client_data_t());
                event.number = static_cast<std::uint32_t>(a->port);
                event.text = to_rust(a->address.to_string());
            }
        } else if (auto const* a = alert_cast<listen_failed_alert>(alert)) {
            auto& event = push(EventKind::ListenFailed, client_data_t());
            event.number = static_cast<std::uint32_t>(a->port);
            event.error = a->error.value();
            event.text = to_rust(a->error.message());
        } else {
            return false;
        }
        return true;
    }

    bool read_sources(lt::alert const* alert)
    {
        using namespace lt;
        if (auto const* a = alert_cast<tracker_reply_alert>(alert)) {
            auto& event = push(EventKind::TrackerReplied, a->handle);
            event.number = static_cast<std::uint32_t>(a->num_peers);
            event.text = to_rust(a->tracker_url());
        } else if (auto const* a = alert_cast<tracker_error_alert>(alert)) {
            push_source_failure(EventKind::TrackerFailed, a->handle, a->tracker_url(),
                a->failure_reason(), a->error);
        } else if (auto const* a = alert_cast<url_seed_alert>(alert)) {
            push_source_failure(EventKind::WebSeedFailed, a->handle, a->server_url(),
                a->error_message(), a->error);
        } else {
            return false;
        }
        return true;
    }

    bool read_peers(lt::alert const* alert)
    {
        using namespace lt;
        if (auto const* a = alert_cast<peer_connect_alert>(alert)) {
            push(EventKind::PeerConnected, a->handle).text = format_endpoint(a->endpoint);
        } else if (auto const* a = alert_cast<peer_disconnected_alert>(alert)) {
            auto const kind = a->op == operation_t::connect ? EventKind::PeerUnreached : EventKind::PeerGone;
            push(kind, a->handle).text
                = to_rust(format_endpoint(a->endpoint) + ": " + a->error.message());
        } else if (auto const* a = alert_cast<peer_ban_alert>(alert)) {
            push(EventKind::Banned, a->handle).text = format_endpoint(a->endpoint);
        } else if (auto const* a = alert_cast<block_uploaded_alert>(alert)) {
            push(EventKind::BlockSent, a->handle).number = to_number(a->piece_index);
        } else {
            return false;
        }
        return true;
    }

    bool read_log(lt::alert const* alert)
    {
        using namespace lt;
        if (auto const* a = alert_cast<peer_log_alert>(alert)) {
            push(EventKind::Log, a->handle).text = to_rust(a->message());
        } else if (auto const* a = alert_cast<torrent_log_alert>(alert)) {
            push(EventKind::Log, a->handle).text = to_rust(a->message());
        } else if (auto const* a = alert_cast<dht_log_alert>(alert)) {
            push(EventKind::Log, client_data_t()).text = to_rust(a->message());
        } else if (auto const* a = alert_cast<log_alert>(alert)) {
            push(EventKind::Log, client_data_t()).text = to_rust(a->message());
        } else {
            return false;
        }
        return true;
    }

    // Adds the event of a failed tracker or web seed: with the server's own message if there is one, otherwise
    // libtorrent's error.
    void push_source_failure(EventKind kind, lt::torrent_handle const& handle, std::string const& url,
        std::string const& reason, lt::error_code const& error)
    {
        push(kind, handle).text = to_rust(url + ": " + (reason.empty() ? describe(error) : reason));
    }

    SessionEvent& push(EventKind kind, lt::torrent_handle const& handle)
    {
        return push(kind, handle.userdata());
    }

    SessionEvent& push(EventKind kind, lt::client_data_t torrent)
    {
        SessionEvent event{};
        event.kind = kind;
        event.torrent = number_of(torrent);
        events_.push_back(std::move(event));
        return events_.back();
    }

    rust::Vec<SessionEvent>& events_;
    bool has_tcp_;
    bool has_log_;
};

} // namespace

rust::Vec<SessionEvent> read_alerts(std::vector<lt::alert*> const& alerts, bool has_tcp, bool has_log)
{
    rust::Vec<SessionEvent> events;
    Reader reader(events, has_tcp, has_log);
    for (auto const* alert : alerts) {
        try {
            reader.read(alert);
        } catch (lt::system_error const&) {
            // The torrent of this alert has been removed meanwhile.
        }
    }
    return events;
}

} // namespace hashlane
