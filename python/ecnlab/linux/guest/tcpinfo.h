/* The kernel's answer to TCP_INFO, as of Linux 6.18 (include/uapi/linux/tcp.h): the C library's is older and shorter. */
#ifndef TCPINFO_H
#define TCPINFO_H

#include <stddef.h>
#include <stdint.h>

struct tcpinfo {
    uint8_t state, ca_state, retransmits, probes, backoff, options, scales, flags;
    uint32_t rto, ato, snd_mss, rcv_mss; /* microseconds, bytes */
    uint32_t unacked, sacked, lost, retrans, fackets; /* packets */
    uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
    uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering;
    uint32_t rcv_rtt, rcv_space, total_retrans;
    uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
    uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
    uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
    uint32_t delivered, delivered_ce;
    uint64_t bytes_sent, bytes_retrans;
    uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd, rcv_wnd, rehash;
    uint16_t total_rto, total_rto_recoveries;
    uint32_t total_rto_time, received_ce;
};

_Static_assert(offsetof(struct tcpinfo, total_retrans) == 100, "layout of tcp_info");
_Static_assert(offsetof(struct tcpinfo, segs_out) == 136, "layout of tcp_info");
_Static_assert(offsetof(struct tcpinfo, bytes_sent) == 200, "layout of tcp_info");
_Static_assert(offsetof(struct tcpinfo, received_ce) == 248, "layout of tcp_info");

enum { OPTION_ECN = 8, NO_SSTHRESH = 0x7fffffff };

#endif
