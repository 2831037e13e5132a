"""Answers of WHOIS in the forms of several registries. Names and numbers are made up, forms are not."""


def referring(text: bytes, server: str) -> bytes:
    """The text, referring to this server."""
    return text.replace(b"SERVER", server.encode())


IANA = b"""% IANA WHOIS server
% for more information on IANA, visit http://www.iana.org
% This query returned 1 object

refer:        SERVER

domain:       COM

organisation: VeriSign Global Registry Services
created:      1985-01-01
changed:      2023-12-07
source:       IANA
"""

VERISIGN = b"""   Domain Name: ROWING.COM\r
   Registry Domain ID: 2336799_DOMAIN_COM-VRSN\r
   Registrar WHOIS Server: SERVER\r
   Registrar URL: http://www.markmonitor.com\r
   Updated Date: 2024-08-14T07:01:34Z\r
   Creation Date: 1998-08-14T04:00:00Z\r
   Registry Expiry Date: 2031-08-13T04:00:00Z\r
   Registrar: MarkMonitor Inc.\r
   Registrar IANA ID: 292\r
   Domain Status: clientDeleteProhibited https://icann.org/epp#clientDeleteProhibited\r
   Name Server: A.IANA-SERVERS.NET\r
   DNSSEC: signedDelegation\r
>>> Last update of whois database: 2026-11-16T20:45:00Z <<<\r
\r
NOTICE: The expiration date displayed in this record is the date the\r
registrar's sponsorship of the domain name registration in the registry is\r
currently set to expire.\r
"""

MARKMONITOR = b"""Domain Name: rowing.com
Registrar WHOIS Server: whois.markmonitor.com
Creation Date: 1990-01-01T04:00:00+0000
Registrar Registration Expiration Date: 2031-08-13T00:00:00+0000
Registrar: MarkMonitor, Inc.
Registrant Name: REDACTED FOR PRIVACY
Registrant Organization: Rowing Club of Ghent
Registrant Country: US
"""

NOMINET = b"""
    Domain name:
        rowing.co.uk

    Data validation:
        Nominet was able to match the registrant's name and address against a 3rd party data source

    Registrar:
        Fasthosts Internet Ltd [Tag = LIVEDOMAINS]
        URL: http://www.fasthosts.co.uk

    Relevant dates:
        Registered on: 14-Feb-2003
        Expiry date:  14-Feb-2031
        Last updated:  05-Feb-2024

    Registration status:
        Registered until expiry date.
"""

JPRS = b"""[ JPRS database provides information on network administration. ]
Domain Information:
[Domain Name]                   ROWING.JP

[Registrant]                    Rowing Association of Japan

[Name Server]                   ns1.rowing.jp

[Created on]                    2005/03/30
[Expires on]                    2031/03/31
[Status]                        Active
[Last Updated]                  2026/04/01 01:05:04 (JST)
"""

FRNIC = b"""%
% This is the AFNIC Whois server.
%
domain:                        rowing.fr
status:                        ACTIVE
registrar:                     GANDI
Expiry Date:                   2031-07-19T14:28:28Z
created:                       2004-07-27T17:18:27Z
last-update:                   2026-07-12T08:04:41Z
source:                        FRNIC
"""

TCI = b"""% TCI Whois Service. Terms of use:

domain:        ROWING.RU
nserver:       ns1.rowing.ru.
state:         REGISTERED, DELEGATED, VERIFIED
person:        Private Person
registrar:     RU-CENTER-RU
created:       1997-09-23T09:45:07Z
paid-till:     2031-09-30T21:00:00Z
source:        TCI
"""

HKIRC = b"""Domain Name:  ROWING.HK

Registrar Name: Hong Kong Names Limited

Registrant Contact Information:

Company English Name (It should be the same as the registered/corporation name): ROWING LTD
Domain Name Commencement Date: 06-04-2004
Country: HK
Expiry Date: 31-03-2031
"""

NICIT = b"""
*********************************************************************
* Please note that the following result could be a subgroup of      *
*********************************************************************

Domain:             rowing.it
Status:             ok
Created:            1999-12-10 00:00:00
Last Update:        2026-05-07 00:52:46
Expire Date:        2031-04-21

Registrant
  Organization:     Canottieri S.p.A.

Registrar
  Organization:     MarkMonitor International Limited
  Name:             MARKMONITOR-REG
"""

CNNIC = b"""Domain Name: rowing.cn
ROID: 20030311s10001s00033735-cn
Registrant: \xe8\xb5\x9b\xe8\x89\x87\xe5\x8d\x8f\xe4\xbc\x9a
Sponsoring Registrar: MarkMonitor Inc.
Registration Time: 2003-03-17 12:20:05
Expiration Time: 2031-03-17 12:48:36
"""
