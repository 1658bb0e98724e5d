use ratewire_live::{host, router};
use ratewire_units::Rate;
fn law(s:&str)->router::Law{match s{"xcp"=>router::Law::Xcp,"rcp"=>router::Law::Rcp,_=>router::Law::PiqiRcp}}
fn main(){
 let a:Vec<String>=std::env::args().collect();
 let r=match a[1].as_str(){
  "router"=>router::attach(&router::Spec{iface:a[2].clone(),law:law(&a[3]),capacity:Rate::from_bps(a[4].parse().unwrap()),queue:if a[5]=="v"{router::Queue::Virtual}else{router::Queue::Backlog}}).map(|_|println!("ok")),
  "host"=>host::attach(&host::Spec{law:law(&a[2]),cgroup:None,desired:Rate::from_bps(10_000_000_000)}).map(|_|println!("ok")),
  "status"=>{println!("{:#?} {:#?}",router::status(),host::status());Ok(())}
  _=>{println!("{:?} {:?}",router::detach(None),host::detach());Ok(())}
 };
 if let Err(e)=r{println!("error: {e}");}
}
