# One queue of ns-2 before chosen arrivals: what its law makes of them.
#
#   ns laws.tcl pi [-a_ 0.001 ...]    p, each 50 ms          ns laws.tcl rem    the same
#   ns laws.tcl avq                   which packets are marked and which dropped, first and last of each stretch
#
# 200 bursts of packets of 1000 B, all ECN-capable, come to a link of 10 Mbit/s. Nobody acknowledges them, so that nothing follows
# from a mark. Sizes and gaps are of a linear congruential generator, which crates/aqm/tests/ns2_laws.rs has, too.

set law [lindex $argv 0]
set class [dict get {pi PI rem REM avq Vq} $law]
set limit [dict get {pi 10000 rem 10000 avq 100} $law]

Queue/$class set [dict get {pi setbit_ rem markpkts_ avq markpkts_} $law] true
foreach {key value} [lrange $argv 1 end] { Queue/$class set [string range $key 1 end] $value }

set ns [new Simulator]
set from [$ns node]
set to [$ns node]
$ns simplex-link $from $to 10Mb 10ms $class
$ns simplex-link $to $from 10Mb 10ms DropTail
$ns queue-limit $from $to $limit
set queue [[$ns link $from $to] queue]

# A sender whose window never closes and whose timer never expires: what it is given leaves at once. Its first packet has 960 B.
foreach {key value} {syn_ false ecn_ 1 window_ 1000000 windowInit_ 1000000 windowInitOption_ 1 maxcwnd_ 1000000 packetSize_ 960
                     rtxcur_init_ 100000 minrto_ 100000 maxrto_ 100000} { Agent/TCP set $key $value }
set sender [new Agent/TCP]
set sink [new Agent/Null]
$ns attach-agent $from $sender
$ns attach-agent $to $sink
$ns connect $sender $sink

set seed 1
proc draw {most} {
    global seed
    set seed [expr {($seed * 1103515245 + 12345) % 2147483648}]
    return [expr {1 + ($seed >> 16) % $most}]
}
# No two bursts come at the same part of a microsecond, so that none comes as a packet leaves.
set time_ns 0
for {set burst 1} {$burst <= 200} {incr burst} {
    incr time_ns [expr {1000000 * [draw 48] + 1}]
    $ns at [expr {$time_ns / 1e9}] "$sender advanceby [draw 60]"
}
set end [expr {$time_ns / 1e9 + 1.0}]

proc stretches {word ids} {
    set first [lindex $ids 0]
    foreach id $ids next [lrange $ids 1 end] {
        if {$id ne "" && $next != $id + 1} {
            puts "$word $first $id"
            set first $next
        }
    }
}

proc finish {} {
    global law packets ns
    if {$law eq "avq"} {
        $ns flush-trace
        close $packets
        set lines [open [lindex [glob /tmp/laws-[pid].tr] 0]]
        set marked {}
        set dropped {}
        while {[gets $lines line] >= 0} {
            # - 0.0 0 1 tcp 1000 ---E--N 0 0.0 1.0 number id
            if {[string match "-*" $line] && [string match *E* [lindex $line 6]]} { lappend marked [lindex $line 10] }
            if {[string match "d*" $line]} { lappend dropped [lindex $line 10] }
        }
        file delete /tmp/laws-[pid].tr
        stretches marked $marked
        stretches dropped $dropped
    }
    exit 0
}
if {$law eq "avq"} {
    set packets [open /tmp/laws-[pid].tr w]
    $ns trace-queue $from $to $packets
} else {
    for {set ms 50} {$ms < 1000 * $end} {incr ms 50} {
        $ns at [expr {$ms / 1e3 + 5e-4}] "puts \"$ms \[$queue set prob_\]\""
    }
}
$ns at $end finish
$ns run
