//! stub
use super::config::TcpConfig;
use super::info::TcpInfo;
use super::*;
use crate::app::Endpoint;
use crate::transport::cc::Cc;
use crate::vocabulary::*;
#[derive(Debug)]
pub struct Tcp;
impl Tcp {
    pub fn new(_c: TcpConfig, _: Cc, _e: Endpoint, _a: SockId, _b: SockId, _r: Stream) -> Self {
        Tcp
    }
    pub fn connect(&mut self, _n: Instant, _o: &mut impl Outlet) {}
    pub fn close(&mut self, _n: Instant, _o: &mut impl Outlet) {}
    pub fn on_segment(
        &mut self,
        _n: Instant,
        _s: u32,
        _a: u32,
        _g: u16,
        _t: u8,
        _z: u32,
        _h: &TcpHeader,
        _o: &mut impl Outlet,
    ) {
    }
    pub fn poll(&mut self, _n: Instant, _o: &mut impl Outlet) {}
    pub fn on_timer(&mut self, _n: Instant, _o: &mut impl Outlet) {}
    pub fn next_timer(&self) -> Option<Instant> {
        None
    }
    pub fn readable(&self) -> u64 {
        0
    }
    pub fn read(&mut self, _n: Instant, _b: u64, _o: &mut impl Outlet) -> u64 {
        0
    }
    pub fn write(&mut self, _n: Instant, _b: u64, _o: &mut impl Outlet) -> u64 {
        0
    }
    pub fn is_writable(&mut self) -> bool {
        false
    }
    pub fn at_end(&self) -> bool {
        false
    }
    pub fn info(&self, _n: Instant) -> TcpInfo {
        TcpInfo::default()
    }
    pub fn uncharge(&mut self, _t: u32) -> bool {
        false
    }
    pub fn charged(&self) -> u32 {
        0
    }
}
