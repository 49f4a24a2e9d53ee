#include "hashlane-swarm/cpp/text.h"

#include <stdexcept>

#include <libtorrent/address.hpp>
#include <libtorrent/torrent_info.hpp>

namespace hashlane {

std::string describe(lt::error_code const& error)
{
    // Two links can have one of the info-hashes of a hybrid torrent each.
    if (error == lt::errors::duplicate_torrent)
        return "already present, perhaps under its other info-hash: remove one of the two";
    // libtorrent's setting ssrf_mitigation. Its words are "blocked by SSRF mitigation".
    if (error == lt::errors::ssrf_mitigation)
        return "not asked, because a torrent could abuse programs of this machine and its network: there, a tracker needs the "
               "path /announce and a web seed a URL without a query, and no other server may redirect to them";
    return error.message();
}

lt::tcp::endpoint parse_endpoint(std::string const& peer)
{
    auto const colon = peer.rfind(':');
    if (colon == std::string::npos) throw std::invalid_argument(peer + ": has no port");
    std::string host = peer.substr(0, colon);
    if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
    return {lt::make_address(host), static_cast<std::uint16_t>(std::stoul(peer.substr(colon + 1)))};
}

std::string format_endpoint(lt::tcp::endpoint const& endpoint)
{
    auto const address = endpoint.address().to_string();
    bool const is_v6 = endpoint.address().is_v6();
    return (is_v6 ? "[" + address + "]" : address) + ":" + std::to_string(endpoint.port());
}

rust::Vec<std::uint8_t> info_dictionary(lt::torrent_handle const& handle)
{
    rust::Vec<std::uint8_t> bytes;
    auto const info = handle.torrent_file();
    if (!info) return bytes;
    auto const section = info->info_section();
    bytes.reserve(static_cast<std::size_t>(section.size()));
    for (char const c : section) bytes.push_back(static_cast<std::uint8_t>(c));
    return bytes;
}

} // namespace hashlane
