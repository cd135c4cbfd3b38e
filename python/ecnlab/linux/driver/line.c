// SPDX-License-Identifier: (Apache-2.0 OR MIT) AND GPL-2.0
/* A line of known speed: a network device that takes one packet from its queue, is busy with it for as many nanoseconds as
 * the packet's mark says, and asks its queue for the next. So the queue meets what it meets before a real device: it is
 * asked when the device is free, or when a packet comes to a free device. Nothing arrives anywhere. */
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/init.h>
#include <linux/netdevice.h>
#include <net/rtnetlink.h>

struct line {
	struct hrtimer busy;
	struct net_device *device;
};

static enum hrtimer_restart line_is_free(struct hrtimer *busy)
{
	netif_wake_queue(container_of(busy, struct line, busy)->device);
	return HRTIMER_NORESTART;
}

static netdev_tx_t line_transmit(struct sk_buff *packet, struct net_device *device)
{
	struct line *line = netdev_priv(device);

	netif_stop_queue(device);
	hrtimer_start(&line->busy, ns_to_ktime(packet->mark), HRTIMER_MODE_REL);
	dev_consume_skb_any(packet);
	return NETDEV_TX_OK;
}

static int line_open(struct net_device *device)
{
	netif_start_queue(device);
	return 0;
}

static int line_stop(struct net_device *device)
{
	struct line *line = netdev_priv(device);

	hrtimer_cancel(&line->busy);
	netif_stop_queue(device);
	return 0;
}

static const struct net_device_ops line_ops = {
	.ndo_open = line_open,
	.ndo_stop = line_stop,
	.ndo_start_xmit = line_transmit,
};

/* Packets begin with IP's header. */
static void line_set_up(struct net_device *device)
{
	struct line *line = netdev_priv(device);

	line->device = device;
	hrtimer_setup(&line->busy, line_is_free, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	device->netdev_ops = &line_ops;
	device->needs_free_netdev = true;
	device->type = ARPHRD_NONE;
	device->flags = IFF_POINTOPOINT | IFF_NOARP;
	device->mtu = 1500;
	device->min_mtu = 68;
	device->max_mtu = 65535;
	device->tx_queue_len = 1000;
}

static struct rtnl_link_ops line_link_ops __read_mostly = {
	.kind = "ecnlab-line",
	.priv_size = sizeof(struct line),
	.setup = line_set_up,
};

static int __init line_init(void)
{
	return rtnl_link_register(&line_link_ops);
}
device_initcall(line_init);
