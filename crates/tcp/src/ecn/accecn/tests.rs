use ecnlab_base::{Dur, Time};

use super::*;

const OPTION_ROOM: u32 = 40;

/// A segment with the field `ace`.
fn with_ace(ace: u8, ecn: Ecn, len: u32) -> Segment {
    Segment { flags: Flags::ACK | flags_of(ace), ecn, len, ..Segment::default() }
}

/// Data with ECT(0) from an end that has met no mark.
fn data() -> Segment {
    with_ace(5, Ecn::Ect0, 1_000)
}

fn arrives<const LINUX: bool>(end: &mut Counted<LINUX>, segment: &Segment, in_window: bool) {
    end.on_arrival(segment, EcnFlags::number(segment.flags), in_window);
}

/// A client behind a SYN-ACK with the field `reflected` and the codepoint `ecn`, and the last ACK.
fn client<const LINUX: bool>(reflected: u8, ecn: Ecn) -> Counted<LINUX> {
    let mut end = Counted::default();
    end.stamp(PacketKind::Syn);
    end.sent_syn(Ecn::NotEct);
    let syn_ack = Segment { flags: Flags::SYN | Flags::ACK | flags_of(reflected), ecn, ..Segment::default() };
    assert_eq!(end.agree(&syn_ack), Agreed::This);
    end.stamp(PacketKind::HandshakeAck);
    end
}

/// A server behind the last ACK, whose SYN-ACK was sent so many times.
fn server(syn_acks: u32) -> AccEcn {
    let mut end = AccEcn::default();
    end.answer(&Segment { flags: Flags::SYN | SYN, ..Segment::default() });
    (0..syn_acks).for_each(|_| {
        end.stamp(PacketKind::SynAck);
        end.sent_syn(Ecn::NotEct);
    });
    arrives(&mut end, &with_ace(0b010, Ecn::NotEct, 0), true);
    end
}

fn sends_with_option(end: &mut AccEcn, kind: PacketKind) {
    end.stamp(kind);
    assert!(end.option(kind, OPTION_ROOM, Time::ZERO, Dur::ZERO).is_some());
}

/// Whether an end still sends the option after more data have come.
fn goes_on(mut end: AccEcn) -> bool {
    arrives(&mut end, &data(), true);
    end.has_option(PacketKind::Ack)
}

#[test]
fn a_marked_syn_ack_counts_unless_linux_takes_the_path_to_change_codepoints() {
    // The field begins at 5 (§3.2.2.2). 0b010 reflects Not-ECT, as the SYN left; 0b100 is ECT(0).
    fn field<const LINUX: bool>(reflected: u8) -> u8 {
        ace_of(client::<LINUX>(reflected, Ecn::Ce).stamp(PacketKind::Data).flags)
    }
    assert_eq!([field::<false>(0b010), field::<false>(0b100)], [6, 6]);
    assert_eq!([field::<true>(0b010), field::<true>(0b100)], [6, 5]);
    assert_eq!(ace_of(client::<true>(0b010, Ecn::NotEct).stamp(PacketKind::Data).flags), 5);
}

#[test]
fn linux_does_not_let_a_later_syn_choose() {
    let syn = |ace| Segment { flags: Flags::SYN | flags_of(ace), ..Segment::default() };
    let offers = [0b111, 0b011, 0b000];
    let requested = offers.map(|ace| AccEcn::default().requested(&syn(ace)));
    assert_eq!(requested, [Some(EcnKind::AccEcn), Some(EcnKind::Rfc3168), None]);
    assert_eq!(offers.map(|ace| AccEcnLinux::default().requested(&syn(ace))), [None; 3]);
}

#[test]
fn the_peer_s_first_option_may_come_late() {
    let mut end = client::<true>(0b010, Ecn::NotEct);
    arrives(&mut end, &data(), true);
    assert!(!end.has_option(PacketKind::Ack));
    arrives(&mut end, &Segment { acc_ecn: Some(Fields::new(true, &[1, 0, 1])), ..data() }, true);
    assert!(end.has_option(PacketKind::Ack));
}

#[test]
fn only_old_data_show_that_acks_with_the_option_are_lost() {
    let bare = Segment { len: 0, ..data() };
    // Old data, what comes between, and the same old data: twice in succession end the option (§3.2.3.2.2).
    let goes_on_after = |first: &Segment, between: Option<&Segment>| {
        let mut end = client::<false>(0b010, Ecn::NotEct);
        arrives(&mut end, &data(), true);
        sends_with_option(&mut end, PacketKind::Ack);
        arrives(&mut end, first, false);
        between.into_iter().for_each(|segment| arrives(&mut end, segment, true));
        arrives(&mut end, first, false);
        goes_on(end)
    };
    assert!(!goes_on_after(&data(), None));
    assert!(!goes_on_after(&data(), Some(&bare)), "an ACK does not show that the last one arrived");
    assert!(goes_on_after(&data(), Some(&data())));
    assert!(goes_on_after(&bare, None));
}

#[test]
fn first_data_with_the_option_arrive_when_an_ack_moves_beyond_the_syn() {
    let goes_on_after = |from, to| {
        let mut end = client::<false>(0b010, Ecn::NotEct);
        sends_with_option(&mut end, PacketKind::Data);
        let acked = Acked { from, to, delivered: to - from, new_sack: false, mss: 1_000 };
        end.decode(&data(), EcnFlags::count(5), acked);
        end.stamp(PacketKind::Retransmission);
        goes_on(end)
    };
    assert!(goes_on_after(1, 1_001));
    assert!(!goes_on_after(0, 1), "the number acknowledges the SYN alone");
    assert!(!goes_on_after(1_001, 1_001), "the number does not move");
}

#[test]
fn a_syn_ack_with_the_option_shows_that_it_passes() {
    let goes_on_after = |syn_acks| {
        let mut end = server(syn_acks);
        sends_with_option(&mut end, PacketKind::Data);
        end.stamp(PacketKind::Retransmission);
        goes_on(end)
    };
    assert!(goes_on_after(1));
    assert!(!goes_on_after(2), "the ACK may be that of the second, which has no option");
}
