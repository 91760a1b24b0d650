package webtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"sync"
	"time"
)

// certificates is a certificate authority that signs what is asked for: one
// certificate per parent domain.
type certificates struct {
	key *ecdsa.PrivateKey
	ca  *x509.Certificate

	mu     sync.Mutex
	issued map[string]*tls.Certificate // guarded by mu; by name without its first label
}

func newCertificates() (*certificates, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	c := &certificates{key: key, issued: map[string]*tls.Certificate{}}
	t := template("webtest authority")
	t.IsCA, t.BasicConstraintsValid, t.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	c.ca, err = x509.ParseCertificate(der)
	return c, err
}

func template(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62)) // cannot fail since Go 1.24
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
}

// get returns the certificate for the name a client asks for.
func (c *certificates) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	_, parent, _ := strings.Cut(hello.ServerName, ".")
	c.mu.Lock()
	defer c.mu.Unlock()
	if cert := c.issued[parent]; cert != nil {
		return cert, nil
	}
	t := template(parent)
	t.DNSNames = []string{parent, "*." + parent}
	t.KeyUsage, t.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, t, c.ca, c.key.Public(), c.key)
	if err != nil {
		return nil, err
	}
	cert := &tls.Certificate{Certificate: [][]byte{der, c.ca.Raw}, PrivateKey: c.key}
	c.issued[parent] = cert
	return cert, nil
}

// CA returns the certificate of the web's authority in PEM, to be trusted by
// its clients: in a file that SSL_CERT_FILE names, or in a pool. Nil without
// Options.TLS.
func (w *Web) CA() []byte {
	if w.certs == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.certs.ca.Raw})
}
